"""Evaluation results over checkpoints, whoever wrote them: one Evaluation a checkpoint, by step."""

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Self

import pandas as pd
import xxhash

from ontogeny.bridges import aggregate, harness
from ontogeny.bridges.step_names import named_step, varying_steps, without_times
from ontogeny.errors import NotARun
from ontogeny.series.naming import Pattern

#: Results files are a few MB; anything larger in the folder is something else.
LARGEST_FILE = 64 << 20
#: Keys of a results file that no two evaluations share.
_DATES = {"date", "start_time"}


@dataclass(frozen=True)
class Evaluation:
    """The results of one checkpoint: numbers and standard errors by task and metric, and how they were made.

    group        its folder, with `#` where the folder's name holds the step
    file, model  the names of the file and of the model without the step
    run          what tells runs in one folder apart, of these two
    stated_step  the step in the model's arguments
    weights      what the file says of the exact weights
    digest       the hash of a file that says itself when or of what step it was made; else empty
    """

    source: str
    group: str
    file: str
    model: str
    step: int | None
    values: Mapping[str, Mapping[str, float]]
    errors: Mapping[str, Mapping[str, float]]
    settings: Mapping[str, str] = field(default_factory=dict)
    task_settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    stated_step: int | None = None
    weights: str | None = None
    tokens: int | None = None
    digest: str = ""
    run: str = ""


@dataclass(frozen=True)
class Evaluations:
    """All evaluations found under one path."""

    path: Path
    all: tuple[Evaluation, ...]

    @classmethod
    def of(cls, path: Path, found: list[Evaluation]) -> Self:
        """Evaluations by series and step.

        Files of one folder that name one model are one run, whatever they are called, as long as no two of
        different names are of one step; otherwise files of different names are different runs.
        """
        models: dict[tuple[str, str], dict[str, set[int | None]]] = defaultdict(lambda: defaultdict(set))
        for one in found:
            models[one.group, one.model][one.file].add(one.step)
        runs = []
        for one in found:
            steps = models[one.group, one.model]
            apart = sum(len(some) for some in steps.values()) == len(set.union(*steps.values()))
            run = one.model if one.model and apart else f"{one.file} {one.model}".strip()
            runs.append(replace(one, run=run))
        return cls(path, tuple(sorted(runs, key=lambda e: (e.group, e.run, e.step or 0, e.source))))

    @classmethod
    def together(cls, tables: Sequence[Self]) -> Self:
        """Several tables as one; a group is named by its path below the folder that holds them all."""
        by_path = {table.path.resolve(): table for table in tables}
        if len(by_path) == 1:
            return tables[0]
        shared = Path(os.path.commonpath(by_path))
        found = [
            replace(one, group=(PurePosixPath(path.relative_to(shared)) / one.group).as_posix())
            for path, table in by_path.items()
            for one in table.all
        ]
        return cls(shared, tuple(found))

    def series(self) -> dict[str, list[Evaluation]]:
        """The evaluations of each run, by step; named by the folder, and the run where there are several."""
        runs: dict[str, dict[str, list[Evaluation]]] = defaultdict(lambda: defaultdict(list))
        for one in self.all:
            if one.step is not None:
                runs[one.group][one.run].append(one)
        named: dict[str, list[Evaluation]] = {}
        for group, found in runs.items():
            files = [members[0].file for members in found.values()]
            for run, members in found.items():
                label = members[0].file if files.count(members[0].file) == 1 else run
                named[group if len(found) == 1 else f"{group} [{label}]"] = members
        return named

    def table(self) -> pd.DataFrame:
        """One row a number: series, step, tokens, task, metric, value, stderr, source."""
        rows = [
            (
                name,
                one.step,
                one.tokens,
                task,
                metric,
                value,
                one.errors.get(task, {}).get(metric),
                one.source,
            )
            for name, members in self.series().items()
            for one in members
            for task, metrics in one.values.items()
            for metric, value in metrics.items()
        ]
        columns = ["series", "step", "tokens", "task", "metric", "value", "stderr", "source"]
        return pd.DataFrame(rows, columns=columns).astype({"stderr": "float64", "tokens": "Int64"})


def read_evaluations(where: Path | str, pattern: str | None = None) -> Evaluations:
    """Read every results file at or below a path: lm-evaluation-harness v0.3, v0.4, BigScience's aggregates.

    The step is taken from the path, after a word such as `step`, `checkpoint`, `iter`; else from the model's
    arguments; else it is the last number that differs among the files of a folder. `pattern` says otherwise,
    as it does for `Series.open`. Other JSON files are passed over. NotARun if no file is a results file;
    Damaged if an aggregate's lists differ in length.
    """
    path = Path(where)
    chosen = None if pattern is None else Pattern.of(pattern)
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*.json") if p.is_file())
    found: list[Evaluation] = []
    results: list[tuple[str, Mapping[str, Any], str]] = []
    for file in files:
        text = file.read_bytes() if file.stat().st_size <= LARGEST_FILE else b""
        document = _document(text)
        if aggregate.is_aggregate(document):
            found += _points(_relative(file, path), document)
        elif harness.is_harness(document):
            results.append((_relative(file, path), document, xxhash.xxh3_64_hexdigest(text)))
    found += _checkpoints(path.resolve().name, results, chosen)
    if not found:
        raise NotARun(
            f"{path} holds no evaluation results",
            received="no such path" if not path.exists() else f"{len(files)} JSON files",
            allowed="results of lm-evaluation-harness (v0.3, v0.4), or BigScience's *_agg.json",
        )
    return Evaluations.of(path, found)


def _document(text: bytes) -> Mapping[str, Any]:
    if b'"results"' not in text:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _relative(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix() if root.is_dir() else file.name


def _points(source: str, document: Mapping[str, Any]) -> list[Evaluation]:
    group, found = source.removesuffix(".json"), []
    for step, tokens, results in aggregate.points(document, source):
        values, errors = harness.values_and_errors(results)
        found.append(Evaluation(source, group, "", "", step, values, errors, tokens=tokens))
    return found


def _checkpoints(
    root: str, results: list[tuple[str, Mapping[str, Any], str]], pattern: Pattern | None
) -> list[Evaluation]:
    paths = [source.removesuffix(".json") for source, _, _ in results]
    in_paths = [named_step(text, pattern) for text in paths]
    in_models = [named_step(harness.arguments(document["config"])[0], pattern) for _, document, _ in results]
    guesses = varying_steps(paths) if not pattern else [None] * len(paths)
    found = []
    for result, path, model, guess in zip(results, in_paths, in_models, guesses, strict=True):
        found.append(_evaluation(root, *result, path or (guess if model is None else None), model))
    return found


def _evaluation(
    root: str,
    source: str,
    document: Mapping[str, Any],
    digest: str,
    in_path: tuple[int, str] | None,
    in_model: tuple[int, str] | None,
) -> Evaluation:
    config = document["config"]
    place = PurePosixPath(in_path[1] if in_path else without_times(source.removesuffix(".json")))
    model = in_model[1] if in_model else harness.arguments(config)[0]
    values, errors = harness.values_and_errors(document["results"])
    step = in_path or in_model
    return Evaluation(
        source=source,
        group=place.parent.as_posix() if place.parent.name else root,
        file=place.name,
        model=model,
        step=step[0] if step else None,
        values=values,
        errors=errors,
        settings=harness.settings(document),
        task_settings=harness.task_settings(document),
        stated_step=in_model[0] if in_model else None,
        weights=str(config["model_sha"]) if config.get("model_sha") else None,
        digest=digest if in_model or _DATES & document.keys() else "",
    )

"""Scores item by item, whoever wrote them: lm-evaluation-harness samples, other JSON lines, CSV, tables."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ontogeny.errors import BadSource, Damaged, NotARun

#: Columns that name an item, in order of preference.
ITEM_NAMES = ("item", "doc_id", "id", "question_id", "idx", "index")
#: Columns that are no score, whatever they hold.
_NO_SCORE = {
    *ITEM_NAMES,
    "replicate",
    "repeat",
    "seed",
    "task",
    "filter",
    "doc_hash",
    "prompt_hash",
    "target_hash",
}
#: samples_TASK_2024-05-01T10-11-12.345678.jsonl, as the harness names them.
_SAMPLES = re.compile(r"^samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?$")
_SUFFIXES = (".jsonl", ".csv")


@dataclass(frozen=True)
class ItemScores:
    """Scores of one model: one row an answer; an item that stands more than once was evaluated again.

    table   item (with its task), score, digest (of the question, where the file gives one)
    notes   what was left out, and why
    """

    name: str
    metric: str
    table: pd.DataFrame
    notes: tuple[str, ...] = ()


def read_item_scores(given: Path | str | pd.DataFrame, metric: str | None = None) -> ItemScores:
    """Read the item scores of one model from a file, a folder of them, or a table.

    JSON lines with an item's name (`doc_id`) and its scores, as lm-evaluation-harness writes with
    `--log_samples`; CSV and tables with such columns. Files of one folder, and rows of one item, are
    replicate evaluations; the harness's files of several tasks are told apart by their names. `metric` names
    the score, needed where there are several; "exact_match,strict-match" names one of several filters too.
    NotARun where there is no such file; BadSource for one without items or scores, or with several scores
    and no `metric`; Damaged for a line that is no JSON.
    """
    if isinstance(given, pd.DataFrame):
        frames, name = [("table", "", given)], "table"
    else:
        path = Path(given)
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in _SUFFIXES)
        if not files:
            raise NotARun(
                f"{path} holds no item scores",
                received="no such path" if not path.exists() else "no .jsonl and no .csv file",
                allowed="samples of lm-evaluation-harness (--log_samples), JSON lines, CSV",
            )
        frames, name = [(str(file), _task(file), _rows(file)) for file in files], path.name
    chosen = metric or _only_score(frames)
    made, notes = [], []
    for source, task, rows in frames:
        table, said = _scored(source, task, rows, chosen)
        made.append(table)
        notes += said
    return ItemScores(name, chosen, pd.concat(made, ignore_index=True), tuple(notes))


def _task(file: Path) -> str:
    found = _SAMPLES.match(file.stem)
    return found["task"] if found else ""


def _rows(file: Path) -> pd.DataFrame:
    if file.suffix == ".csv":
        return pd.read_csv(file)
    return pd.DataFrame(list(_lines(file)))


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    """The plain values of every line; documents and answers are not kept."""
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except ValueError as error:
                raise Damaged(f"{file}, line {number} is not JSON", received=str(error)) from None
            if not isinstance(found, dict):
                raise Damaged(f"{file}, line {number} is no record", received=type(found).__name__)
            yield {key: value for key, value in found.items() if isinstance(value, str | int | float | bool)}


def _only_score(frames: Sequence[tuple[str, str, pd.DataFrame]]) -> str:
    """The one column that every file has and that holds numbers."""
    columns = [
        {str(c) for c in rows if c not in _NO_SCORE and pd.api.types.is_numeric_dtype(rows[c])}
        for _, _, rows in frames
    ]
    shared = sorted(set.intersection(*columns))
    if len(shared) != 1:
        raise BadSource(
            f"{frames[0][0]} does not say which score is meant",
            received=f"numbers in {', '.join(shared) or 'no column'}",
            allowed="one column of scores beside the item's name",
            remedy="name it: metric=..., --metric on the command line",
        )
    return shared[0]


def _scored(source: str, task: str, rows: pd.DataFrame, metric: str) -> tuple[pd.DataFrame, list[str]]:
    name, _, rule = metric.partition(",")
    item = next((column for column in ITEM_NAMES if column in rows), None)
    if item is None or name not in rows:
        raise BadSource(
            f"{source} holds no item scores",
            received=f"columns {', '.join(map(str, rows.columns[:12])) or 'none'}",
            allowed=f"an item's name ({', '.join(ITEM_NAMES)}) and {name!r}",
        )
    notes = []
    if "filter" in rows and rows["filter"].nunique() > 1:
        rules = list(dict.fromkeys(rows["filter"]))
        rule = rule or rules[0]
        if rule not in rules:
            raise BadSource(f"{source} has no filter {rule!r}", received=metric, allowed=", ".join(rules))
        notes.append(f"{source}: filter {rule}; {', '.join(r for r in rules if r != rule)} left out")
        rows = rows[rows["filter"] == rule]
    score = pd.to_numeric(rows[name], errors="coerce").astype("float64")
    tasks = rows["task"].astype(str) if "task" in rows else pd.Series(task, index=rows.index)
    items = rows[item].astype(str).where(tasks == "", tasks + "/" + rows[item].astype(str))
    digest = rows["doc_hash"].astype(str) if "doc_hash" in rows else pd.Series("", index=rows.index)
    table = pd.DataFrame({"item": items, "score": score, "digest": digest})
    missing = int(score.isna().sum())
    if missing:
        notes.append(f"{source}: {missing} of {len(score)} answers have no score and were left out")
    return table[score.notna()], notes

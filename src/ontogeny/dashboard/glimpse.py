"""Looking inside checkpoints, in a process of its own: `python -m ontogeny.dashboard.glimpse`.

It reads the names of job files, one a line, until there are no more. A job is JSON; its answer goes beside
it, as JSON and, where there are numbers, a .npy file. What cannot be seen is answered with the reason.
Nothing is written into the run: data a recipe needs are linked or made in the folder of the jobs.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ontogeny.catalogue import DataFacts, part
from ontogeny.errors import NotObservable, OntogenyError
from ontogeny.measure.facts import TextFacts
from ontogeny.record.recipe import Recipe
from ontogeny.record.training import TOKENS
from ontogeny.series import Series, StoredCheckpoint
from ontogeny.subject import Subject, open_subject
from ontogeny.vocabulary import Reading, Stimulus

#: Positions that are shown of a longer sequence.
LONGEST = 256
#: Numbers of patterns that are kept together, so that the next head needs no second look.
MOST_NUMBERS = 4_000_000
STIMULI = ("heldout", "repeated_tokens")


class Opened:
    """The series that was looked into last, with its model and its stimuli: the next look is likely there."""

    def __init__(self, path: str, home: str) -> None:
        self.asked = path, home
        self.series = Series.open(path, home)
        self.subject: Subject | None = None
        self.facts: DataFacts | None = None
        self.stimuli: dict[str, tuple[str, Stimulus]] = {}

    def load(self, step: int, streams: Path) -> Subject:
        """The model at a step; the checkpoints may have become more since the series was opened."""
        if step not in {one.step for one in self.series.checkpoints}:
            self.series = Series.open(*self.asked)
        checkpoint = self.series.at(step)
        into = self.subject if isinstance(checkpoint, StoredCheckpoint) else None
        self.subject = None
        self.subject = open_subject(checkpoint, into)
        if self.facts is None:
            place = checkpoint.tokenizer() if isinstance(checkpoint, StoredCheckpoint) else None
            self.facts = _facts(self.series, self.subject, place, streams)
        return self.subject

    def stimulus(self, asked: str) -> tuple[str, Stimulus]:
        """By name; of none asked for, the first that this series can give. After `load`."""
        if asked not in self.stimuli:
            self.stimuli[asked] = _stimulus(self.facts, asked)  # pyright: ignore[reportArgumentType]
        return self.stimuli[asked]


def look(job: dict[str, Any], home: Path, opened: Opened) -> tuple[dict[str, Any], np.ndarray | None]:
    """Carry a job out: `stimulus` gives tokens, `pattern` heads' patterns, `loss` one sequence's losses
    [position]."""
    subject = opened.load(job["step"], home)
    name, stimulus = opened.stimulus(job["stimulus"])
    row, facts = job["sequence"], opened.facts
    if row >= stimulus.shape[0] or facts is None:
        raise NotObservable(f"{name} has {stimulus.shape[0]} sequences", received=f"sequence {row}")
    tokens = stimulus.tokens[row : row + 1, :LONGEST]
    said = {
        "stimulus": name,
        "sequences": stimulus.shape[0],
        "tokens": [facts.text(token[None]) for token in tokens[0]],
        "ids": tokens[0].tolist(),
    }
    if job["what"] == "pattern":
        layers, numbers = _patterns(subject, tokens, job["layer"])
        return {**said, "layers": layers}, numbers
    if job["what"] == "loss":
        return said, _loss(subject, tokens)
    return said, None


def _facts(series: Series, subject: Subject, tokenizer: Path | None, home: Path) -> DataFacts:
    identity = {} if series.run is None else series.run.identity
    if "recipe" not in identity:
        return TextFacts(subject, tokenizer, None)
    streams = home / TOKENS
    streams.mkdir(exist_ok=True)
    kept = series.path.absolute().parent / TOKENS
    for one in kept.iterdir() if kept.is_dir() else ():
        if not (streams / one.name).exists():
            (streams / one.name).symlink_to(one, target_is_directory=one.is_dir())
    return Recipe.from_document(identity["recipe"]).task(streams).facts()


def _stimulus(facts: DataFacts, asked: str) -> tuple[str, Stimulus]:
    """The stimulus asked for; of none asked for, the first that this series can give."""
    reasons = []
    for name in (asked,) if asked else STIMULI:
        try:
            made = part("stimulus", name).make(facts)
        except OntogenyError as error:
            reasons.append(f"{name}: {error.in_one_line()}")
            continue
        if not isinstance(made, Reading):
            return name, made
        reasons.append(f"{name}: {made.reason}")
    raise NotObservable("there is no text to look at", received="; ".join(reasons))


def _patterns(subject: Subject, tokens: Tensor, layer: int | None) -> tuple[list[int], np.ndarray | None]:
    """One layer's patterns, or all layers' if they are small [layer head query key]; and which these are."""
    if not subject.observable("attention"):
        raise NotObservable("attention patterns cannot be seen on this model")
    seen: dict[int, Tensor] = {}

    def keep(place: Any, pattern: Tensor) -> None:
        seen[int(place["layer"])] = pattern[0].detach().float().cpu()

    subject.run(tokens, taps={"attention": keep})
    layers = sorted(seen)
    if layer is None:
        same = len({pattern.shape for pattern in seen.values()}) == 1
        if not same or sum(pattern.numel() for pattern in seen.values()) > MOST_NUMBERS:
            return [], None
    elif layer not in seen:
        raise NotObservable(f"the model has no layer {layer}", allowed=f"{layers}")
    else:
        layers = [layer]
    return layers, torch.stack([seen[one] for one in layers]).numpy()


def _loss(subject: Subject, tokens: Tensor) -> np.ndarray:
    logits = subject.run(tokens)[0, :-1].float()
    return torch.nn.functional.cross_entropy(logits, tokens[0, 1:], reduction="none").numpy()


def carry_out(job: Path, opened: Opened | None) -> Opened | None:
    """Answer one job; returns what stays open for the next."""
    asked = json.loads(job.read_bytes())
    numbers = None
    try:
        if opened is None or opened.asked != (asked["path"], asked["home"]):
            opened = None
            opened = Opened(asked["path"], asked["home"])
        said, numbers = look(asked, job.parent, opened)
    except OntogenyError as error:
        said = {"refusal": error.in_one_line(), "allowed": error.allowed}
    if numbers is not None:
        np.save(job.with_suffix(".npy"), numbers.astype(np.float32))
    written = job.with_suffix(".part")
    written.write_text(json.dumps(said), encoding="utf-8")
    written.replace(job.with_suffix(".answer"))
    return opened


def main() -> None:
    os.nice(10)
    torch.set_num_threads(1)
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints is no answer
    opened = None
    for line in sys.stdin:
        opened = carry_out(Path(line.rstrip("\n")), opened)
        print("done", file=answers, flush=True)


if __name__ == "__main__":
    main()

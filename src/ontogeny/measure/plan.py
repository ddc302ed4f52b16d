"""What is to be measured: units, of which checkpoints, at what price."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontogeny.catalogue import Part, measuring_part, part, parts
from ontogeny.errors import BadSource, NotARun
from ontogeny.measure.checkpoint import Unit, gather
from ontogeny.measure.facts import facts_of
from ontogeny.measure.found import watchers_for
from ontogeny.measure.fused_pass import BATCH
from ontogeny.store.rows import MEASURED, measured_keys
from ontogeny.store.series import Series, SeriesCheckpoint
from ontogeny.subject import Subject, load_subject
from ontogeny.vocabulary import Reading, Status, Stimulus, undefined


@dataclass(frozen=True)
class Request:
    """What a caller asks for, in plain values that travel to workers."""

    series: Path
    home: Path | None = None
    parts: tuple[str, ...] = ()
    text: Path | None = None
    batch: int = BATCH


def asked_parts(names: Sequence[str]) -> list[Part]:
    """The named parts, or every instrument and comparison, and the fits they need.

    Unknown names are refused with the list.
    """
    if names:
        asked = [measuring_part(name) for name in names]
    else:
        asked = [*parts("instrument").values(), *parts("comparison").values()]
    needed = {need for made in asked for need in made.needs} - {made.name for made in asked}
    return [*asked, *(made for name, made in parts("fit").items() if name in needed)]


class Session:
    """A series opened for measuring: its units, and one subject that checkpoints are loaded into."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.series = Series.open(request.series, request.home)
        if not self.series.checkpoints:
            raise NotARun(
                f"{self.series.name} holds no checkpoint yet",
                remedy="wait for its first one; a run that was killed before it has nothing to measure",
            )
        self.subject = load_subject(self.series.checkpoints[-1].folder)
        self._loaded = self.series.checkpoints[-1].folder
        self.facts = facts_of(self.series, self.subject, request.text)
        self._stimuli: dict[str, Stimulus | Reading] = {}
        self.units = [unit for made in asked_parts(request.parts) for unit in self._units_of(made)]

    def load(self, checkpoint: SeriesCheckpoint) -> Subject:
        """The subject with this checkpoint's weights."""
        if self._loaded != checkpoint.folder:
            self.subject = load_subject(checkpoint.folder, self.subject)
            self._loaded = checkpoint.folder
        return self.subject

    def stimulus(self, name: str) -> Stimulus | Reading:
        """A stimulus made once; what the data cannot give is a status."""
        if name not in self._stimuli:
            try:
                self._stimuli[name] = part("stimulus", name).make(self.facts)
            except BadSource as error:
                self._stimuli[name] = undefined(Status.NO_TARGET, error.what)
        return self._stimuli[name]

    def _units_of(self, made: Part) -> list[Unit]:
        units = []
        for at in made.at or ("",):
            if at == "matrix":
                units.append(Unit(made, at, None))
            else:
                units += [Unit(made, at, self.stimulus(name), name) for name in made.stimuli]
        return units

    def address(self, unit: Unit, checkpoint: SeriesCheckpoint) -> dict[str, Any]:
        """What rows of a unit at a checkpoint begin with."""
        referred = self.reference(unit, checkpoint) if unit.part.kind == "comparison" else None
        return {
            "run": self.series.id,
            "attempt": 0,
            "step": checkpoint.step,
            "checkpoint": checkpoint.hash,
            **unit.identity,
            "reference": "" if referred is None else referred.hash,
        }

    def reference(self, unit: Unit, checkpoint: SeriesCheckpoint) -> SeriesCheckpoint | None:
        """What a comparison refers to: the final, the first or the previous checkpoint, if there is one."""
        checkpoints, which = self.series.checkpoints, unit.part.options["reference"]
        if which == "previous":
            index = checkpoints.index(checkpoint)
            return checkpoints[index - 1] if index else None
        return checkpoints[0 if which == "first" else -1]

    def missing(self, checkpoint: SeriesCheckpoint, done: set[tuple[str, ...]]) -> list[Unit]:
        """Units of this checkpoint that no row speaks of yet, and fits whose artefact one of them needs."""
        found = []
        for unit in self.units:
            address = self.address(unit, checkpoint)
            if tuple(str(address[name]) for name in MEASURED) not in done:
                found.append(unit)
        needed = {(need, unit.at, unit.stimulus_hash) for unit in found for need in unit.part.needs}
        fits = [unit for unit in self.units if unit.part.kind == "fit" and unit not in found]
        return found + [unit for unit in fits if (unit.part.name, unit.at, unit.stimulus_hash) in needed]

    def todo(self) -> list[SeriesCheckpoint]:
        """Checkpoints of which something is missing."""
        done = measured_keys(self.series.home)
        return [c for c in self.series.checkpoints if self.missing(c, done)]


@dataclass(frozen=True)
class Price:
    """What measuring will cost: per stimulus the passes and their reducers, and seconds in all."""

    checkpoints: int
    stimuli: tuple[tuple[str, str, str], ...]
    plain_seconds: float
    seconds: float


def price(session: Session) -> Price:
    """Time one batch of each stimulus, plain and with everything watched, and scale it up."""
    todo = session.todo()
    lines, plain, whole = [], 0.0, 0.0
    by_stimulus: dict[str, list[Unit]] = {}
    for unit in session.units:
        by_stimulus.setdefault(unit.stimulus_name, []).append(unit)
    for name, units in by_stimulus.items():
        stimulus = units[0].stimulus
        names = ", ".join(sorted({unit.part.name for unit in units}))
        if not isinstance(stimulus, Stimulus):
            reason = stimulus.reason if isinstance(stimulus, Reading) else "weights only, no pass"
            lines.append((name or "(weights)", reason, names))
            continue
        watched = [watcher.name for watcher in watchers_for((unit.part, unit.at) for unit in units)]
        sequences, length = stimulus.shape
        shape = f"{sequences} × {length} tokens, one pass, reduces {', '.join(sorted(set(watched)))}"
        lines.append((name, shape, names))
        started = time.perf_counter()
        for start in range(0, sequences, session.request.batch):
            session.subject.run(stimulus.tokens[start : start + session.request.batch])
        middle = time.perf_counter()
        gather(session.subject, units, session.request.batch)
        plain += middle - started
        whole += time.perf_counter() - middle
    return Price(len(todo), tuple(lines), plain * len(todo), whole * len(todo))

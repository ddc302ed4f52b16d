"""What is to be measured: units, of which checkpoints, at what price."""

import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ontogeny.catalogue import DataFacts, part
from ontogeny.errors import BadSource, NotARun
from ontogeny.evidence import WITHOUT_PASS
from ontogeny.measure.asked import Asked, asked_parts
from ontogeny.measure.budget import prices_of, too_dear, unit_key
from ontogeny.measure.checkpoint import LAYERS, Unit, gather
from ontogeny.measure.compared import referred
from ontogeny.measure.facts import facts_of
from ontogeny.measure.found import watchers_for
from ontogeny.measure.fused_pass import BATCH
from ontogeny.measure.resident import UNREADABLE, Resident
from ontogeny.series import MadeCheckpoint, Series, SeriesCheckpoint
from ontogeny.store.rows import MEASURED, measured_keys, refused_keys
from ontogeny.subject import Subject
from ontogeny.vocabulary import Reading, Status, Stimulus, undefined


@dataclass(frozen=True)
class Request:
    """What a caller asks for, in values that travel to workers: a place to open, or a series that is open."""

    series: Path | Series
    home: Path | None = None
    parts: tuple[str, ...] = ()
    text: Path | None = None
    batch: int = BATCH
    budget: float | None = None


class Session:
    """A series opened for measuring: its units, and one subject that checkpoints are loaded into."""

    def __init__(self, request: Request) -> None:
        self.request = request
        given = request.series
        self.series = given if isinstance(given, Series) else Series.open(given, request.home)
        if not self.series.checkpoints:
            raise NotARun(
                f"{self.series.name} holds no checkpoint yet",
                remedy="wait for its first one; a run that was killed before it has nothing to measure",
            )
        #: Names of the stimuli that are measured on ("" for weights alone); None for all of them.
        self.passes: tuple[str, ...] | None = None
        self._resident = Resident()
        self._dear: dict[tuple[int, int], dict[str, str]] = {}
        self._asked = asked_parts(request.parts)
        self.summaries = [one for one in self._asked if one.part.kind == "summary"]
        self._sized: dict[tuple[int, int], tuple[DataFacts, dict[str, Stimulus | Reading], list[Unit]]] = {}
        self._suit(self._resident.load_any(self.series))

    @property
    def subject(self) -> Subject:
        """The model that was loaded last."""
        return self._resident.subject

    @property
    def size(self) -> tuple[int, int]:
        """What stimuli depend on in a model: its vocabulary and its context."""
        return self.subject.anatomy.vocabulary, self.subject.anatomy.context

    def load(self, checkpoint: SeriesCheckpoint) -> Subject:
        """The subject with this checkpoint's weights; `facts` and `units` suit it."""
        subject = self._resident.load(checkpoint)
        self._suit(checkpoint)
        return subject

    def _suit(self, checkpoint: SeriesCheckpoint) -> None:
        """A folder may hold models of several sizes, each with stimuli of its own."""
        if self.size not in self._sized:
            self.facts = facts_of(self.series, self.subject, self.request.text, checkpoint)
            self._stimuli = {}
            units = [u for one in self._asked if one.part.kind != "summary" for u in self._units_of(one)]
            self._sized[self.size] = self.facts, self._stimuli, units
        self.facts, self._stimuli, self.units = self._sized[self.size]

    def hash_of(self, checkpoint: SeriesCheckpoint) -> str:
        """Its hash, by loading what only a function can give; empty if it cannot be read."""
        try:
            if isinstance(checkpoint, MadeCheckpoint) and not checkpoint.hashed:
                self.load(checkpoint)
            return checkpoint.hash
        except UNREADABLE:
            return ""

    def stimulus(self, name: str) -> Stimulus | Reading:
        """A stimulus made once; what the data cannot give is a status."""
        if name not in self._stimuli:
            try:
                self._stimuli[name] = part("stimulus", name).make(self.facts)
            except BadSource as error:
                self._stimuli[name] = undefined(Status.NO_TARGET, error.in_one_line())
        return self._stimuli[name]

    def _units_of(self, asked: Asked) -> list[Unit]:
        units, made = [], asked.part
        for at in made.at or ("",):
            if at in WITHOUT_PASS:
                units.append(Unit(made, at, None, "", asked.parameters))
            else:
                units += [Unit(made, at, self.stimulus(n), n, asked.parameters) for n in made.stimuli]
        if made.options.get("layers"):
            units += [replace(unit, layers=True) for unit in units]
        return units

    def address(self, unit: Unit, checkpoint: SeriesCheckpoint) -> dict[str, Any]:
        """What rows of a unit at a checkpoint begin with."""
        compared = unit.part.kind == "comparison" and not unit.layers
        there = self.references(unit, checkpoint).values() if compared else ()
        none = "" if len(there) == 1 else "-"
        reference = " ".join(none if other is None else self.hash_of(other) for other in there)
        return {
            "run": self.series.id,
            "attempt": 0,
            "step": checkpoint.step + unit.ahead,
            "checkpoint": self.hash_of(checkpoint),
            **unit.identity,
            "reference": LAYERS if unit.layers else reference,
        }

    @property
    def dear(self) -> dict[str, str]:
        """Units that the budget does not reach, and why, by their key; for a model of the present size."""
        if self.request.budget is None:
            return {}
        if self.size not in self._dear:
            home, batch = self.series.home, self.request.batch
            prices = prices_of(home, self.subject, self.units, self.facts, batch, run=self.series.run)
            count = len(self.series.checkpoints)
            self._dear[self.size] = too_dear(self.units, prices, count, self.request.budget)
        return self._dear[self.size]

    @cached_property
    def _refused(self) -> set[tuple[str, ...]]:
        return refused_keys(self.series.home)

    def references(self, unit: Unit, checkpoint: SeriesCheckpoint) -> dict[str, SeriesCheckpoint | None]:
        """The checkpoints a comparison refers to, by their declared names; None where there is no such.

        The only checkpoint of a series has nothing to be compared with.
        """
        checkpoints, names = self.series.checkpoints, unit.part.options["reference"]
        index, steps = checkpoints.index(checkpoint), [kept.step for kept in checkpoints]
        found = {}
        for name in (names,) if isinstance(names, str) else names:
            at = referred(name, index, steps) if len(steps) > 1 else None
            found[name] = None if at is None else checkpoints[at]
        return found

    def missing(self, checkpoint: SeriesCheckpoint, done: set[tuple[str, ...]]) -> list[Unit]:
        """Units of this checkpoint that no row speaks of yet, and fits whose artefact one of them needs."""
        found = []
        for unit in self.units:
            if self.passes is not None and unit.stimulus_name not in self.passes:
                continue
            address = self.address(unit, checkpoint)
            key = tuple(str(address[name]) for name in MEASURED)
            if key not in done and not (unit_key(unit) in self.dear and key in self._refused):
                found.append(unit)
        needed = {(need, unit.stimulus_hash) for unit in found for need in unit.part.needs}
        fits = [unit for unit in self.units if unit.part.kind == "fit" and unit not in found]
        return found + [
            unit
            for unit in fits
            if (unit.part.name, unit.stimulus_hash) in needed
            or (unit.at in WITHOUT_PASS and any(unit.part.name == need for need, _ in needed))
        ]

    def todo(self) -> list[SeriesCheckpoint]:
        """Checkpoints of which something is missing; those without any row need no hash to be told."""
        done = measured_keys(self.series.home)
        begun = {key[MEASURED.index("step")] for key in done if key[MEASURED.index("run")] == self.series.id}
        ahead = {unit.ahead for unit in self.units}
        return [
            c
            for c in self.series.checkpoints
            if begun.isdisjoint(str(c.step + steps) for steps in ahead) or self.missing(c, done)
        ]


@dataclass(frozen=True)
class Price:
    """What measuring will cost: per stimulus the passes and their reducers, and seconds in all.

    `parts` has every part with what it would take of a checkpoint by itself, the dearest first, and why the
    budget does not reach it, if so.
    """

    checkpoints: int
    stimuli: tuple[tuple[str, str, str], ...]
    parts: tuple[tuple[str, float, str], ...]
    plain_seconds: float
    seconds: float


def price(session: Session) -> Price:
    """Time each stimulus, plain and with everything watched, and one batch for every part apart."""
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
        watched = [watcher.name for watcher in watchers_for((unit.watched, unit.at) for unit in units)]
        sequences, length = stimulus.shape
        shape = f"{sequences} × {length} tokens, one pass, reduces {', '.join(sorted(set(watched)))}"
        lines.append((name, shape, names))
        started = time.process_time()
        for start in range(0, sequences, session.request.batch):
            session.subject.run(stimulus.tokens[start : start + session.request.batch])
        middle = time.process_time()
        gather(session.subject, units, session.request.batch, session.facts)
        plain += middle - started
        whole += time.process_time() - middle
    return Price(len(todo), tuple(lines), _by_part(session), plain * len(todo), whole * len(todo))


def _by_part(session: Session) -> tuple[tuple[str, float, str], ...]:
    """Parts with what they take alone; nothing is kept of it."""
    home, batch = session.series.home, session.request.batch
    run = session.series.run
    prices = prices_of(home, session.subject, session.units, session.facts, batch, run=run, keep=False)
    budget, count = session.request.budget, len(session.series.checkpoints)
    dear = {} if budget is None else too_dear(session.units, prices, count, budget)
    found = [
        (unit_key(unit).partition(" on ")[0], prices.of(unit)[0], dear.get(unit_key(unit), ""))
        for unit in session.units
    ]
    return tuple(sorted(found, key=lambda one: (-one[1], one[0])))

"""Measure one checkpoint: one pass a stimulus, every part at every place that offers what it needs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from ontogeny.catalogue import Part, part
from ontogeny.errors import BadContract
from ontogeny.measure.found import Found, watchers_for
from ontogeny.measure.fused_pass import BATCH, fused_pass
from ontogeny.measure.reading_rows import Row, named_readings, null_row, reading_rows
from ontogeny.subject import Subject
from ontogeny.vocabulary import Fitted, Pair, Place, Reading, Status, Stimulus, Streams, undefined


@dataclass(frozen=True)
class Unit:
    """The least that is measured or skipped as a whole: a part, a kind of site, a stimulus, parameters.

    `stimulus` is None where no pass is needed, and a Reading where the series cannot make it.
    """

    part: Part
    at: str
    stimulus: Stimulus | Reading | None
    stimulus_name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stimulus_hash(self) -> str:
        return self.stimulus.hash if isinstance(self.stimulus, Stimulus) else self.stimulus_name

    @property
    def identity(self) -> Row:
        """Its part of every row's key."""
        return {
            "part": self.part.name,
            "version": self.part.version,
            "parameters": self.part.parameter_hash(**self.parameters),
            "stimulus": self.stimulus_hash,
            "stimulus_name": self.stimulus_name,
            "condition": "",
        }


@dataclass
class Measured:
    """What one checkpoint gave: rows, arrays by hash, artefacts of fits by key."""

    rows: list[Row] = field(default_factory=list)
    arrays: dict[str, Tensor] = field(default_factory=dict)
    artefacts: dict[str, Mapping[str, Tensor]] = field(default_factory=dict)


#: Evidence of the reference checkpoint for comparisons on one stimulus with one kind of reference, or a
#: Reading where the checkpoint has none.
ReferenceEvidence = Callable[[list[Unit]], Found | Reading]


def gather(subject: Subject, units: list[Unit], batch: int = BATCH) -> Found:
    """All evidence that units of one stimulus need."""
    stimulus = units[0].stimulus
    streamed = {}
    if isinstance(stimulus, Stimulus):
        watchers = watchers_for((unit.part, unit.at) for unit in units if unit.at)
        if watchers:
            streamed = fused_pass(subject, stimulus, watchers, batch)
    weights = subject.matrices() if any(unit.at == "matrix" for unit in units) else {}
    # Copied: the next checkpoint is loaded into the same parameters, and a reference must outlive that.
    matrices = {place: weight.clone() for place, weight in weights.items()}
    return Found(streamed, matrices)


def measure_checkpoint(
    subject: Subject, units: Iterable[Unit], reference: ReferenceEvidence, batch: int = BATCH
) -> Measured:
    """Rows of all units for one subject; the caller adds run, step and checkpoint to them."""
    measured = Measured()
    by_stimulus: dict[str, list[Unit]] = {}
    for unit in units:
        by_stimulus.setdefault(unit.stimulus_hash, []).append(unit)
    for together in by_stimulus.values():
        if isinstance(together[0].stimulus, Reading):
            for unit in together:
                _add(measured, unit, "", Place(), together[0].stimulus)
            continue
        found = gather(subject, together, batch)
        for unit in sorted(together, key=lambda unit: unit.part.kind != "fit"):
            _measure_unit(measured, subject, unit, found, together, reference)
    return measured


def _measure_unit(
    measured: Measured,
    subject: Subject,
    unit: Unit,
    found: Found,
    together: list[Unit],
    reference: ReferenceEvidence,
) -> None:
    if unit.part.kind == "trial":
        offered = {"subject": subject, "stimulus": unit.stimulus}
        values = [offered[need] for need in unit.part.needs]
        _call(measured, unit, Place(), values, {})
        return
    places = found.places(unit.at)
    if not places:
        gap = undefined(Status.NOT_OBSERVABLE, f"{unit.at} sites cannot be seen on this model")
        _add(measured, unit, "", Place(), gap)
        return
    there = None
    if unit.part.kind == "comparison":
        there = reference([other for other in together if _same_reference(other, unit)])
        if isinstance(there, Reading):
            _add(measured, unit, "", Place(), there)
            return
    for place in places:
        values = _evidence(unit, found, there, place)
        gap = next((value for value in values if isinstance(value, Reading)), None)
        if gap is not None:
            _add(measured, unit, "", place, gap)
            continue
        extra = _generator(unit, place)
        fitted = _call(measured, unit, place, values, extra)
        if fitted is not None:
            found.keep(unit.part.name, place, fitted.artefact)


def _same_reference(one: Unit, other: Unit) -> bool:
    return one.part.kind == other.part.kind and one.part.options == other.part.options


def _evidence(unit: Unit, found: Found, there: Found | None, place: Place) -> list[Any]:
    if unit.part.streamed:
        return [found.get(unit.part.name, unit.at, place)]
    here = [found.get(need, unit.at, place) for need in unit.part.needs]
    if there is None:
        return here
    far = [there.get(need, unit.at, place) for need in unit.part.needs]
    undefined_ones = [value for value in (*here, *far) if isinstance(value, Reading)]
    return undefined_ones or [Pair(*both) for both in zip(here, far, strict=True)]


def _generator(unit: Unit, place: Place) -> dict[str, Any]:
    if "rng" not in unit.part.parameters:
        return {}
    return {"rng": Streams(0).generator("measurement", place=f"{unit.part.name} {place}")}


def _call(
    measured: Measured, unit: Unit, place: Place, values: list[Any], extra: Mapping[str, Any]
) -> Fitted | None:
    """Call a part and add its rows; what it raises becomes a status, never a traceback."""
    made = unit.part
    try:
        if made.streamed:
            returned = values[0]
        else:
            returned = made.make(*values, **{**made.bind(**unit.parameters), **extra})
        fitted = returned if isinstance(returned, Fitted) else None
        for component, reading in named_readings(made, fitted.quality if fitted else returned).items():
            _add(measured, unit, component, place, reading)
        if made.null is not None:
            row, arrays = null_row(made, place, part("null", made.null).make(*values))
            measured.rows.append({**unit.identity, **row})
            measured.arrays |= arrays
    except BadContract:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        _add(measured, unit, "", place, undefined(Status.FAILED, reason))
        return None
    if fitted is not None:
        key = f"{made.name}-{made.parameter_hash(**unit.parameters)}-{unit.stimulus_hash}-{place}"
        measured.artefacts[key.replace(" ", "-")] = fitted.artefact
    return fitted


def _add(measured: Measured, unit: Unit, component: str, place: Place, reading: Reading) -> None:
    measured.rows += [{**unit.identity, **row} for row in reading_rows(unit.part, component, place, reading)]

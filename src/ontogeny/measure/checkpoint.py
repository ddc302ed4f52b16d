"""Measure one checkpoint: one pass a stimulus, every part at every place that offers what it needs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from torch import Tensor

from ontogeny.catalogue import DataFacts, Part, part
from ontogeny.errors import BadContract
from ontogeny.measure.compared import References, between_places, compared
from ontogeny.measure.found import Found, watchers_for
from ontogeny.measure.fused_pass import BATCH, fused_pass
from ontogeny.measure.raw_weights import raw_weights
from ontogeny.measure.reading_rows import Row, kept_rows, null_row
from ontogeny.subject import Subject
from ontogeny.vocabulary import Fitted, Place, Reading, Status, Stimulus, Streams, named_readings, undefined

#: What rows of a comparison between two places of one checkpoint have as their reference, and how their
#: components begin; `place_to` is the second place.
LAYERS = "layers"
#: Why a checkpoint shows no gradients.
TRAINING = "gradients are read while it is trained (Recorder every=…), or in a run that can be replayed"


@dataclass(frozen=True)
class Unit:
    """The least that is measured or skipped as a whole: a part, a kind of site, a stimulus, parameters.

    `stimulus` is None where no pass is needed, and a Reading where the series cannot make it. With
    `layers`, a comparison is between every two places of the checkpoint, not with another checkpoint.
    """

    part: Part
    at: str
    stimulus: Stimulus | Reading | None
    stimulus_name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    layers: bool = False

    @property
    def stimulus_hash(self) -> str:
        return self.stimulus.hash if isinstance(self.stimulus, Stimulus) else self.stimulus_name

    @property
    def watched(self) -> Part:
        """The part as a pass sees it: a streamed one with parameters of its own has a name of its own."""
        settings = self.part.settings(**self.parameters)
        if not self.part.streamed or not settings:
            return self.part
        made = partial(self.part.make, **self.part.bind(**self.parameters))
        return replace(self.part, name=f"{self.part.name}({settings})", make=made)

    @property
    def ahead(self) -> int:
        """How many steps after a checkpoint it speaks of: what reads a training step has to take one."""
        if not self.part.online:
            return 0
        return 2 if "previous_gradient" in self.part.needs else 1

    @property
    def identity(self) -> Row:
        """Its part of every row's key."""
        return {
            "part": self.part.name,
            "version": self.part.version,
            "parameters": self.part.parameter_hash(**self.parameters),
            "settings": self.part.settings(**self.parameters),
            "stimulus": self.stimulus_hash,
            "stimulus_name": self.stimulus_name,
            "condition": "",
            **({"reference": LAYERS} if self.layers else {}),
        }


@dataclass
class Measured:
    """What one checkpoint gave: rows, arrays by hash, artefacts of fits by key."""

    rows: list[Row] = field(default_factory=list)
    arrays: dict[str, Tensor] = field(default_factory=dict)
    artefacts: dict[str, Mapping[str, Tensor]] = field(default_factory=dict)


#: Evidence of the reference checkpoint for comparisons on one stimulus with one kind of reference, or a
#: Reading where the checkpoint has none; of several references, by name.
ReferenceEvidence = Callable[[list[Unit]], References]


def gather(subject: Subject, units: list[Unit], batch: int = BATCH, facts: DataFacts | None = None) -> Found:
    """All evidence that units of one stimulus need."""
    stimulus = units[0].stimulus
    streamed = {}
    if isinstance(stimulus, Stimulus):
        watchers = watchers_for((unit.watched, unit.at) for unit in units if unit.at)
        if watchers:
            streamed = fused_pass(subject, stimulus, watchers, batch, facts)
    found = Found(streamed, raw_weights(subject, {unit.at for unit in units}))
    if facts is not None:
        found.given["facts"] = facts
    if isinstance(stimulus, Stimulus):
        found.given["stimulus"] = stimulus
    return found


def measure_checkpoint(
    subject: Subject,
    units: Iterable[Unit],
    reference: ReferenceEvidence,
    batch: int = BATCH,
    facts: DataFacts | None = None,
) -> Measured:
    """Rows of all units for one subject; the caller adds run, step and checkpoint to them.

    What needs no pass comes first: fits on weights serve the passes that follow.
    """
    measured = Measured()
    by_stimulus: dict[str, list[Unit]] = {}
    for unit in sorted(units, key=lambda unit: unit.stimulus is not None):
        by_stimulus.setdefault(unit.stimulus_hash, []).append(unit)
    weights: Found | None = None
    for together in by_stimulus.values():
        if (gap := _no_stimulus(together[0].stimulus)) is not None:
            for unit in together:
                add_reading(measured, unit, "", Place(), gap)
            continue
        found = gather(subject, together, batch, facts)
        if weights is not None:
            found.share(weights)
        if together[0].stimulus is None:
            weights = found
        for unit in sorted(together, key=lambda unit: unit.part.kind != "fit"):
            measure_unit(measured, subject, unit, found, together, reference)
    return measured


def _no_stimulus(stimulus: Stimulus | Reading | None) -> Reading | None:
    """Why there is nothing to run on, if so."""
    if isinstance(stimulus, Stimulus) and not stimulus.tokens.numel():
        return undefined(Status.N_TOO_SMALL, "the stimulus holds no tokens", n=0)
    return stimulus if isinstance(stimulus, Reading) else None


def measure_unit(
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
        why = TRAINING if unit.at == "parameter" else subject.anatomy.why_not(unit.at)
        reason = f"{unit.at} sites cannot be seen on this model: {why}"
        gap = undefined(Status.NOT_OBSERVABLE, reason)
        add_reading(measured, unit, "", Place(), gap)
        return
    if unit.layers:
        _measure_layers(measured, unit, found)
        return
    there = None
    if unit.part.kind == "comparison":
        there = reference([other for other in together if _same_reference(other, unit)])
        if isinstance(there, Reading):
            add_reading(measured, unit, "", Place(), there)
            return
    for place in places:
        values = _evidence(unit, found, there, place)
        gap = next((value for value in values if isinstance(value, Reading)), None)
        if gap is not None:
            add_reading(measured, unit, "", place, gap)
            _tell_whoever_needs(measured, unit, found, place)
            continue
        extra = _generator(unit, place)
        used = " ".join(filter(None, (found.artefact_key(need, place) for need in unit.part.needs)))
        fitted = _call(measured, unit, place, values, extra, used)
        if fitted is not None:
            key = _artefact_key(unit, place)
            measured.artefacts[key] = fitted.artefact
            found.keep(unit.part.name, place, fitted.artefact, key)
        else:
            _tell_whoever_needs(measured, unit, found, place)


def _tell_whoever_needs(measured: Measured, unit: Unit, found: Found, place: Place) -> None:
    """A fit that came to nothing hands its own reason on to the parts that need it."""
    if unit.part.kind == "fit":
        last = measured.rows[-1]
        found.keep(unit.part.name, place, undefined(Status(last["status"]), last["reason"]))


def _measure_layers(measured: Measured, unit: Unit, found: Found) -> None:
    """A comparison of every two places; its rows say `layers` and have the second place in `place_to`."""
    first = len(measured.rows)
    for place, other, values in between_places(unit.part, unit.at, found):
        start = len(measured.rows)
        gap = next((value for value in values if isinstance(value, Reading)), None)
        if gap is None:
            _call(measured, unit, place, values, {})
        else:
            add_reading(measured, unit, "", place, gap)
        for row in measured.rows[start:]:
            row["place_to"] = str(other)
    if len(measured.rows) == first:
        add_reading(
            measured, unit, "", Place(), undefined(Status.NO_TARGET, "there are no two places to compare")
        )
    for row in measured.rows[first:]:
        row["component"] = f"{LAYERS}_{row['component']}".rstrip("_")


def _same_reference(one: Unit, other: Unit) -> bool:
    return one.part.kind == other.part.kind and one.part.options == other.part.options and not one.layers


def _evidence(unit: Unit, found: Found, there: References | None, place: Place) -> list[Any]:
    if unit.part.streamed:
        return [found.get(unit.watched.name, unit.at, place)]
    if there is None:
        return [found.get(need, unit.at, place) for need in unit.part.needs]
    return compared(unit.part, unit.at, found, there, place)


def _generator(unit: Unit, place: Place) -> dict[str, Any]:
    if "rng" not in unit.part.parameters:
        return {}
    return {"rng": Streams(0).generator("measurement", place=f"{unit.part.name} {place}")}


def _artefact_key(unit: Unit, place: Place) -> str:
    made = unit.part
    key = f"{made.name}-{made.parameter_hash(**unit.parameters)}-{unit.stimulus_hash}-{place}"
    return key.replace(" ", "-")


def _call(
    measured: Measured,
    unit: Unit,
    place: Place,
    values: list[Any],
    extra: Mapping[str, Any],
    used: str = "",
) -> Fitted | None:
    """Call a part and add its rows; what it raises becomes a status, never a traceback.

    `used` names the artefacts of fits among its evidence; its rows point at them.
    """
    made = unit.part
    try:
        if made.streamed:
            returned = values[0]
        else:
            returned = made.make(*values, **{**made.bind(**unit.parameters), **extra})
        fitted = returned if isinstance(returned, Fitted) else None
        for component, reading in named_readings(fitted.quality if fitted else returned).items():
            add_reading(measured, unit, component, place, reading, used)
        if made.null is not None:
            row, arrays = null_row(made, place, part("null", made.null).make(*values))
            measured.rows.append({**unit.identity, **row})
            measured.arrays |= arrays
    except BadContract:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        add_reading(measured, unit, "", place, undefined(Status.FAILED, reason))
        return None
    return fitted


def add_reading(
    measured: Measured, unit: Unit, component: str, place: Place, reading: Reading, used: str = ""
) -> None:
    rows, arrays = kept_rows(unit.part, component, place, reading)
    measured.rows += [{**unit.identity, **row, "fit": used} for row in rows]
    measured.arrays |= arrays

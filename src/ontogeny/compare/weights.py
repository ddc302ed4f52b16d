"""Two series checkpoint by checkpoint: distance of weights, similarity of features, barrier at the end."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from torch import Tensor

from ontogeny.catalogue import measuring_part, parts
from ontogeny.compare.barrier import BARRIERS, final_barriers
from ontogeny.compare.comparison import PLACE, Columns, Gaps
from ontogeny.compare.side import Side
from ontogeny.errors import NotARun
from ontogeny.measure.checkpoint import Unit, gather, measure_checkpoint
from ontogeny.measure.plan import Request, Session
from ontogeny.measure.reading_rows import Row
from ontogeny.numerics.distance import distance_of_weights, weight_distance
from ontogeny.vocabulary import Place, Reading, Status

__all__ = ["BARRIERS", "DISTANCES", "SIMILARITY", "compare_weights"]

_READING: Columns = {"status": "str", "reason": "str"}
DISTANCES: Columns = {
    "run": "str",
    "step": "Int64",
    **PLACE,
    "distance": "float64",
    "relative": "float64",
    **_READING,
}
SIMILARITY: Columns = {
    "run": "str",
    "step": "Int64",
    "part": "str",
    "component": "str",
    **PLACE,
    "value": "float64",
    "n": "Int64",
    **_READING,
}
#: What a barrier is a barrier of.
LOSS = "heldout_loss"


def similarities() -> list[str]:
    """The comparisons that can hold any two places against each other, of one model or of two."""
    return [name for name, made in parts("comparison").items() if made.options["layers"]]


def compare_weights(
    here: Side, there: Side, passes: bool, text: Path | None, gaps: Gaps
) -> dict[str, pd.DataFrame]:
    """Tables `distances`, `similarity`, `barriers` of one series against another.

    Distances need equal shapes, similarity and barriers the same stimulus; what is missing goes to `gaps`.
    """
    found = {name: pd.DataFrame() for name in ("distances", "similarity", "barriers")}
    names = (*similarities(), LOSS)
    try:
        mine, theirs = (Session(Request(side.series, parts=names, text=text)) for side in (here, there))
    except NotARun as error:
        gaps.add(here.label, "weights", error.what)
        return found
    steps = sorted(here.steps & there.steps)
    if not steps:
        gaps.add(here.label, "distances, similarity", "no checkpoint of a common step")
    if not passes:
        gaps.add(here.label, "similarity, barriers", "no model was to be run")
    if wrong := _unlike_shapes(mine, theirs):
        gaps.add(here.label, "distances, barriers", wrong)
    shared = [_shared_unit(mine, theirs, n, here.label, gaps) for n in names if n != LOSS and passes]
    similar = [unit for unit in shared if unit is not None]
    rows: dict[str, list[Row]] = {"distances": [], "similarity": []}
    for step in steps:
        for session in (mine, theirs):
            session.load(session.series.at(step))
        marks = {"run": here.label, "step": step}
        if not wrong:
            rows["distances"] += [{**marks, **row} for row in _distances(mine, theirs)]
        if similar:
            rows["similarity"] += [{**marks, **row} for row in _similarity(mine, theirs, similar)]
    found |= {name: pd.DataFrame(lines) for name, lines in rows.items()}
    loss = _shared_unit(mine, theirs, LOSS, here.label, gaps) if passes and not wrong else None
    if loss is not None:
        found["barriers"] = final_barriers(mine, theirs, loss, here.label, gaps)
    return found


def _unlike_shapes(here: Session, there: Session) -> str:
    """Why tensors of the two models cannot be subtracted; empty if they can."""
    mine, theirs = _parameters(here), _parameters(there)
    for name in sorted(mine.keys() | theirs.keys()):
        shapes = [tuple(state[name].shape) if name in state else "absent" for state in (mine, theirs)]
        if shapes[0] != shapes[1]:
            return f"the architectures differ: {name} is {shapes[0]} here, {shapes[1]} in the reference"
    return ""


def _parameters(session: Session) -> dict[str, Tensor]:
    """Every parameter once, tied ones too."""
    return {name: parameter.detach() for name, parameter in session.subject.model.named_parameters()}


def _distances(here: Session, there: Session) -> list[Row]:
    """All parameters together, then matrix by matrix."""
    mine, theirs = _parameters(here), _parameters(there)
    found = [_distance_row(Place(), distance_of_weights(mine, theirs))]
    matrices = there.subject.matrices()
    for place, weight in here.subject.matrices().items():
        found.append(_distance_row(place, weight_distance(weight, matrices[place])))
    return found


def _distance_row(place: Place, readings: Mapping[str, Reading]) -> Row:
    whole = readings[""]
    return {
        **place,
        "distance": float(whole.value),
        "relative": float(readings["relative"].value),
        "status": str(whole.status if whole.reason else Status.OK),
        "reason": whole.reason or readings["relative"].reason,
    }


def _shared_unit(here: Session, there: Session, name: str, label: str, gaps: Gaps) -> Unit | None:
    """How a part is measured on both alike; None where the two series offer different stimuli."""
    made = measuring_part(name)
    units = [next(u for u in session.units if u.part.name == made.name) for session in (here, there)]
    for unit in units:
        if isinstance(unit.stimulus, Reading):
            gaps.add(label, name, unit.stimulus.reason)
            return None
    if units[0].stimulus_hash != units[1].stimulus_hash:
        gaps.add(label, name, f"the two series have different {units[0].stimulus_name!r} stimuli")
        return None
    return units[0]


def _similarity(here: Session, there: Session, units: list[Unit]) -> list[Row]:
    measured = measure_checkpoint(
        here.subject, units, lambda compared: gather(there.subject, compared), here.request.batch
    )
    return measured.rows

"""Whether two runs end in one valley, as they are and after their units were brought into one order."""

import copy
import math
from collections.abc import Mapping
from dataclasses import asdict

import pandas as pd
from torch import Tensor

from ontogeny.compare.comparison import Columns, Gaps
from ontogeny.measure.checkpoint import Unit, gather, measure_checkpoint
from ontogeny.measure.plan import Session
from ontogeny.models import Decoder
from ontogeny.numerics.connectivity import Barrier, barrier
from ontogeny.numerics.distance import weight_distance
from ontogeny.numerics.permutation_alignment import Alignment, permutation_alignment
from ontogeny.subject import Subject
from ontogeny.vocabulary import Reading, Status, Streams

BARRIERS: Columns = {
    "run": "str",
    "units": "str",
    "step": "Int64",
    "reference_step": "Int64",
    "barrier": "float64",
    "alpha": "float64",
    "loss": "float64",
    "reference_loss": "float64",
    "distance": "float64",
    "status": "str",
    "reason": "str",
}
#: What decides how a decoder was made or trained, and not what it computes.
TRAINING_ONLY = {"dropout", "init", "init_scale"}


def final_barriers(here: Session, there: Session, loss: Unit, label: str, gaps: Gaps) -> pd.DataFrame:
    """The held-out loss barrier between the final checkpoints; two rows: units as they are, and aligned.

    `loss` and `reference_loss` are the losses of the ends, `distance` that of all parameters. Alignment is
    of MLP units and heads, and known for decoders of ours only.
    Misleads: units of two seeds write to residual streams of unlike bases, so that aligning them brings the
    weights nearer and need not lower the barrier; it is for runs that share a start.
    """
    subjects = [session.load(session.series.checkpoints[-1]) for session in (here, there)]
    if different := _unlike_functions(*subjects):
        gaps.add(label, "barriers", different)
        return pd.DataFrame()
    mine, theirs = (subject.model.state_dict() for subject in subjects)
    probe = Subject(copy.deepcopy(subjects[0].model), subjects[0].anatomy)
    loss_of = lambda state: _loss(probe, state, loss, here.request.batch)
    ends = {
        "run": label,
        "step": here.series.checkpoints[-1].step,
        "reference_step": there.series.checkpoints[-1].step,
    }
    names = [name for name, _ in probe.model.named_parameters()]
    plain = _row(barrier(mine, theirs, loss_of), _distance(mine, theirs, names))
    rows = [{**ends, "units": "as they are", **plain}]
    aligned = _aligned(subjects[0], mine, theirs)
    if isinstance(aligned, Reading):
        gaps.add(label, "barrier with units aligned", aligned.reason)
    elif aligned is not None:
        found = _row(barrier(aligned.state, theirs, loss_of), _distance(aligned.state, theirs, names))
        rows.append({**ends, "units": "aligned", **found})
    else:
        gaps.add(label, "barrier with units aligned", "the units of models that are not ours are not known")
    return pd.DataFrame(rows)


def _aligned(
    subject: Subject, mine: Mapping[str, Tensor], theirs: Mapping[str, Tensor]
) -> Alignment | Reading | None:
    """The first state in the order of the second."""
    if not isinstance(subject.model, Decoder):
        return None
    rng = Streams(0).generator("measurement", place="permutation_alignment")
    return permutation_alignment(theirs, mine, subject.model.config, rng)


def _loss(subject: Subject, state: Mapping[str, Tensor], unit: Unit, batch: int) -> float:
    """The held-out loss of a state, through the measuring path; NaN where it is undefined."""
    subject.model.load_state_dict(state)
    measured = measure_checkpoint(subject, [unit], lambda compared: gather(subject, compared), batch)
    value = next(row["value"] for row in measured.rows if row["component"] == "")
    return math.nan if value is None else value


def _unlike_functions(here: Subject, there: Subject) -> str:
    """Why a mixture of two models of equal shapes would be a model of neither; empty if it would not."""
    if type(here.model) is not type(there.model):
        return f"a {type(here.model).__name__} here, a {type(there.model).__name__} in the reference"
    if isinstance(here.model, Decoder) and isinstance(there.model, Decoder):
        mine, theirs = asdict(here.model.config), asdict(there.model.config)
        changed = [key for key in mine if key not in TRAINING_ONLY and mine[key] != theirs[key]]
        return f"the models differ in {', '.join(changed)}" if changed else ""
    return ""


def _distance(mine: Mapping[str, Tensor], theirs: Mapping[str, Tensor], names: list[str]) -> float:
    """Of all parameters together, tied ones once."""
    parts = (float(weight_distance(mine[name], theirs[name])[""].value) for name in names)
    return math.sqrt(sum(part**2 for part in parts))


def _row(found: Barrier, distance: float) -> dict:
    return {
        "barrier": float(found.reading.value),
        "alpha": found.alpha,
        "loss": float(found.losses[-1]),
        "reference_loss": float(found.losses[0]),
        "distance": distance,
        "status": str(found.reading.status if found.reading.reason else Status.OK),
        "reason": found.reading.reason,
    }

"""TEL-01."""

import math
from collections.abc import Mapping

from torch import Tensor

from ontogeny.catalogue import instrument
from ontogeny.numerics.norms import root_of_sum, squares, upcast
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(
    unit="norm",
    source="standard; clipping Pascanu et al. 1211.5063 (recalled)",
    family="telemetry",
    online=True,
)
def gradient_norm(
    gradient: Mapping[str, Tensor], parameter: Mapping[str, Tensor], *, clip: float = 1.0
) -> dict[str, Reading]:
    """How long the gradient of the training loss is, before clipping.

    ‖g‖ = sqrt(Σ_p ‖g_p‖²_F) over the parameters that have a gradient, for the whole model and for each group
    of a partition of its parameters. `clip_coefficient` is min(1, clip / ‖g‖), of a group what clipping it
    alone would do; `nonfinite` counts entries that are NaN or infinite, `without_gradient` the parameters
    that were skipped. The Recorder records the nameless number by itself, by the same code; where the loop
    says its norm before clipping, it is that.

    Known: loss ½‖θ‖² -> ‖θ‖; the squares of the groups add up to that of the whole. Tied tensors count once.
    Misleads: it grows with the number of parameters and shrinks with the batch: much of it is noise.
    """
    count = sum(tensor.numel() for tensor in gradient.values())
    found = {"without_gradient": Reading(float(len(parameter) - len(gradient)), n=len(parameter))}
    if not gradient:
        return {"": undefined(Status.NO_TARGET, "no parameter has a gradient", n=0), **found}
    norm = root_of_sum(squares(list(gradient.values())))
    if math.isfinite(norm):
        coefficient = min(1.0, clip / norm) if norm else 1.0
        return {
            "": Reading(norm, n=count),
            "clip_coefficient": Reading(coefficient, n=count),
            "nonfinite": Reading(0.0, n=count),
            **found,
        }
    nonfinite = sum(int((~upcast(tensor).isfinite()).sum()) for tensor in gradient.values())
    reason = f"{nonfinite} entries of the gradient are not finite" if nonfinite else "it is beyond float32"
    gap = undefined(Status.NONFINITE, reason, n=count)
    return {"": gap, "clip_coefficient": gap, "nonfinite": Reading(float(nonfinite), n=count), **found}

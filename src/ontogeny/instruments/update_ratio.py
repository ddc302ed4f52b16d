"""TEL-02."""

import math
from collections.abc import Mapping

from torch import Tensor

from ontogeny.catalogue import instrument
from ontogeny.numerics.norms import decay_norm, ratio, root_of_sum, squares
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(
    unit="ratio",
    source="standard practice; as a control quantity You et al. (LAMB) 1904.00962 (recalled)",
    family="telemetry",
    online=True,
)
def update_ratio(
    update: Mapping[str, Tensor], parameter: Mapping[str, Tensor], decay: Mapping[str, float]
) -> dict[str, Reading]:
    """How large one optimizer step is, beside the weights that it changes.

    u = ‖Δθ‖_F / ‖θ‖_F, Δθ the applied step (momentum, decay and clipping included), θ before it.
    `update_norm` is ‖Δθ‖, and `decay_norm` ‖ηλθ‖, the part of it that decoupled weight decay made (0
    without). For the whole model and for each group of its parameters. The Recorder records the ratio by
    itself, by the same code.

    Known: SGD -> η‖g‖/‖θ‖ exactly; Adam without decay under a constant gradient -> ‖Δθ‖ = η·sqrt(P).
    Misleads: about 1e-3 is usual of healthy training, but zero-initialised matrices begin far above, and
    weights that no decay holds grow until any step looks small.
    """
    count = sum(tensor.numel() for tensor in parameter.values())
    squared = squares(list(parameter.values()))
    step, weight = root_of_sum(squares(list(update.values()))), root_of_sum(squared)
    decayed = decay_norm([float(decay[name]) for name in parameter], squared)
    share = ratio(step, weight)
    zero = math.isnan(share) and not math.isnan(step) and not math.isnan(weight)
    return {
        "": undefined(Status.ZERO_WEIGHT, f"‖θ‖ is {weight:g}", n=count) if zero else Reading(share, n=count),
        "update_norm": Reading(step, n=count),
        "decay_norm": Reading(decayed, n=count),
    }

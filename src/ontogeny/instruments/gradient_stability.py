"""TEL-06."""

import math
from collections.abc import Mapping

from torch import Tensor

from ontogeny.catalogue import instrument
from ontogeny.numerics.norms import vector
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(
    unit="cosine",
    source="no source for the name; the cosine of successive gradients is folklore (definition ours)",
    family="telemetry",
    online=True,
)
def gradient_stability(gradient: Mapping[str, Tensor], previous_gradient: Mapping[str, Tensor]) -> Reading:
    """How far a step's gradient points where that of the step before pointed.

    cos(g_t, g_{t−1}) over the parameters that had a gradient in both, in float64; for the whole model and for
    each group. Its mean and deviation over 50 steps are the summary `mean_gradient_stability`.

    Known: the same gradient twice -> 1, the opposite one -> −1; independent batches of b give about
    1 / (1 + B/b) with B the noise scale (2000 dimensions, |G| = 1, unit noise, b = 200: 0.0906); pure noise
    in P dimensions -> 0 ± 1/√P; a zero gradient -> no number.
    Misleads: it falls with the batch alone: compare at one batch size, or after multiplying by (1 + B/b).
    """
    dot = here = before = 0.0
    shared = [name for name in gradient if name in previous_gradient]
    count = 0
    for name in shared:
        one, other = vector(gradient[name]), vector(previous_gradient[name])
        dot += float(one.dot(other))
        here += float(one.dot(one))
        before += float(other.dot(other))
        count += one.numel()
    if not count:
        return undefined(Status.NO_TARGET, "no parameter had a gradient at both steps", n=0)
    if not math.isfinite(here) or not math.isfinite(before):
        return undefined(Status.NONFINITE, "a gradient is not finite", n=count)
    if not here or not before:
        return undefined(Status.ZERO_OUTPUT, "a gradient is zero", n=count)
    return Reading(max(-1.0, min(1.0, dot / math.sqrt(here) / math.sqrt(before))), n=count)

"""ACT-05."""

from collections.abc import Iterator

import numpy as np

from ontogeny.catalogue import Course, summary
from ontogeny.vocabulary import Reading, Status, Summarised, undefined


@summary(unit="ratio a layer", source="standard (recalled)", family="activations")
def residual_growth(residual_norm: Course) -> Iterator[Summarised]:
    """By what factor the residual stream grows from one layer to the next.

    exp(slope) of the least-squares line of ln n_ℓ over depth ℓ, n_ℓ the mean norm after block ℓ (position 0
    left out); `ratio` is n_last / n_0 and has no unit. Where the stack is applied several times, depth counts
    on through its repetitions. `n` is the number of depths.

    Known: doubling at each block -> 2; independent unit-variance writes -> n_ℓ ∝ sqrt(ℓ + 1). GPT-2 XL:
    about 1.045.
    Misleads: growth is seldom geometric; one massive dimension can make one layer's leap a slope.
    """
    table = residual_norm.table
    table = table[table["component"] == ""]
    for step in residual_norm.steps:
        here = table[table["step"] == step].dropna(subset=["layer"])
        depths = here.assign(loop=here["loop"].fillna(0)).sort_values(["loop", "layer"])
        for component, reading in _growth(depths["value"].to_numpy(dtype=float)).items():
            yield Summarised(reading, step=step, component=component)


def _growth(norms: np.ndarray) -> dict[str, Reading]:
    n = len(norms)
    if n < 2:
        return {"": undefined(Status.N_TOO_SMALL, "one layer has no growth", n=n)}
    if not np.isfinite(norms).all():
        return {"": undefined(Status.NONFINITE, "some layers' norm is not a number", n=n)}
    if (norms <= 0).any():
        return {"": undefined(Status.ZERO_OUTPUT, "some layers' norm is 0", n=n)}
    depth = np.arange(n) - (n - 1) / 2
    slope = depth @ np.log(norms) / (depth @ depth)
    return {"": Reading(float(np.exp(slope)), n=n), "ratio": Reading(float(norms[-1] / norms[0]), n=n)}

"""How often chance alone reaches what was seen, with the selection done again in every draw."""

import math

import numpy as np
from numpy.typing import ArrayLike

from ontogeny.vocabulary import Reading, Status, undefined


def draws_needed(alpha: float) -> int:
    """Fewest null draws with which p can be below alpha: the smallest B with (B + 1) alpha > 1.

    Known: 0.05 -> 20, 0.01 -> 100, 0.001 -> 1000.
    """
    return max(1, math.floor(1 / alpha + 1e-9))


def exceedance_p(observed: float, null_maxima: ArrayLike, *, alpha: float = 0.01) -> Reading:
    """Selection-aware p: (1 + #{null maximum ≥ observed}) / (draws + 1), with `n` the number of draws.

    `null_maxima` [draw] holds, for every draw from the null, the *largest* statistic over everything the
    observed one was chosen from; a draw that is NaN counts as an exceedance. Claim where p < alpha.
    Status: `n-too-small` if alpha is out of reach with so few draws (the reason says how many are needed),
    `nonfinite` if the observed statistic is.
    Known: above all 99 draws -> 0.01; the median of the draws -> about 0.5.
    Misleads: it answers for the null it is given; draws from another process than the data's prove nothing.
    """
    maxima = np.asarray(null_maxima, dtype=np.float64).ravel()
    if not math.isfinite(observed):
        return undefined(Status.NONFINITE, f"the observed statistic is {observed}", n=maxima.size)
    needed = draws_needed(alpha)
    if maxima.size < needed:
        reason = f"{maxima.size} null draws cannot get below alpha = {alpha:g}; {needed} are needed"
        return undefined(Status.N_TOO_SMALL, reason, n=maxima.size)
    reached = maxima.size - int(np.count_nonzero(maxima < observed))
    return Reading((1 + reached) / (maxima.size + 1), n=maxima.size)

"""Many p values with the share of false ones among the claims held down (STA-02)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ontogeny.errors import BadArgument


@dataclass(frozen=True)
class Adjusted:
    """q values in the shape of the p they came from, and how many p were counted.

    q         claim where q ≤ the share of false claims that one will bear; NaN where p was
    tested    how many p there were
    left_out  how many were NaN, and were left out before the others were counted
    """

    q: NDArray
    tested: int
    left_out: int


def false_discovery(p: NDArray | Sequence[Any], *, method: Literal["bh", "by"] = "bh") -> Adjusted:
    """Adjusted p [...]: q_(i) = min over k ≥ i of m · p_(k) / k, m the number of p that are not NaN.

    "bh" (Benjamini and Hochberg) for tests that are independent or rise and fall together, "by" (Benjamini
    and Yekutieli) for any dependence, larger by 1 + 1/2 + … + 1/m.
    BadArgument for p outside [0, 1].
    Known: (.001, .008, .039, .041, .042, .06, .074, .205) ->
    (.008, .032, .0672, .0672, .0672, .08, .0846, .205).
    Misleads: of the claims a share may be false; for a single claim use `max_statistic`.
    """
    given = np.asarray(p, dtype=np.float64)
    known = ~np.isnan(given)
    wrong = given[known & ~((given >= 0) & (given <= 1))]
    if wrong.size:
        raise BadArgument("a p value lies from 0 to 1", received=wrong[0], allowed="0 to 1, or NaN")
    q = np.full(given.shape, np.nan)
    if known.any():
        q[known] = stats.false_discovery_control(given[known], method=method)
    return Adjusted(q, int(known.sum()), int((~known).sum()))

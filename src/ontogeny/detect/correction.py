"""What it costs to look at many parts at once: q beside every p."""

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ontogeny.errors import BadArgument
from ontogeny.statistics.false_discovery import false_discovery

#: Benjamini and Hochberg; Benjamini and Yekutieli, whatever depends on whatever.
CORRECTIONS: dict[str, Literal["bh", "by"]] = {"bh": "bh", "by": "by"}
#: What is one test: the best of its places already pays for the choice among them.
FAMILY = ["part", "component", "stimulus_name"]


def correction_of(name: str) -> Literal["bh", "by"]:
    """The correction of a name; BadArgument for another."""
    if name not in CORRECTIONS:
        raise BadArgument("an unknown correction", received=name, allowed=", ".join(CORRECTIONS))
    return CORRECTIONS[name]


def q_values(table: pd.DataFrame, correction: str = "bh") -> NDArray:
    """q [row]: the share of false claims among those at or below a row's p, over all parts and stimuli.

    A part on one stimulus is one test, with the p of its best place (p is held against the largest of the
    null over places, so that the choice is paid for). The q of another place is what the part would have if
    that place were its best. Rows without a p get none and are not counted.
    Known: one part -> q = p; p of .01, .04, .03 -> .03, .04, .04.
    Misleads: `bh` needs parts that do not contradict one another; `by` needs nothing and asks for more.
    """
    method = correction_of(correction)
    p = table["p"].to_numpy(dtype=np.float64, na_value=np.nan)
    q = np.full(len(table), np.nan)
    tested = np.flatnonzero(np.isfinite(p))
    if not tested.size:
        return q
    family = table.iloc[tested].groupby(FAMILY, sort=False, dropna=False).ngroup().to_numpy()
    best = np.full(family.max() + 1, np.inf)
    np.minimum.at(best, family, p[tested])
    found: dict[tuple[int, float], float] = {}
    for row, one in zip(tested, family, strict=True):
        key = int(one), float(p[row])
        if key not in found:
            replaced = best.copy()
            replaced[one] = p[row]
            found[key] = float(false_discovery(replaced, method=method).q[one])
        q[row] = found[key]
    return q

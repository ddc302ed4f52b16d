"""Whether two arms are the same as far as matters (STA-04)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.weightstats import ttost_ind, ttost_paired

from ontogeny.errors import BadArgument
from ontogeny.vocabulary import Reading, Status, undefined

#: Differences that vary by less than this share of the values do not vary.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Equivalence:
    """What two one-sided tests say.

    difference  treatment mean less control mean, with its interval at 1 − 2 alpha
    margin      differences up to this size do not matter
    p           the larger of the two; claim equivalence where p ≤ alpha
    equivalent  whether it may be claimed, which is whether the interval lies inside ± margin
    """

    difference: Reading
    margin: float
    p: Reading
    equivalent: bool


def equivalence(
    control: NDArray,
    treatment: NDArray,
    *,
    margin: float | None = None,
    paired: bool = False,
    alpha: float = 0.05,
) -> Equivalence:
    """Two one-sided t tests of control [run] and treatment [run] against ± margin.

    `margin` should be stated before the data are seen; by default it is half the control's sd between
    seeds. `paired` for runs that share seeds, in the same order. Unpaired arms are taken to vary alike.
    What is not finite is left out (with its pair).
    Status of p: `n-too-small` below 2 runs an arm, `constant-input` where nothing varies.
    BadArgument for pairs of unequal number, and for a margin that is not above 0.
    Known: (4, 7, 8, 6, 3, 2) and (6, 8, 7, 10, 11, 9) at margin 1 -> p 0.965097.
    Misleads: no claim is not a difference; few runs never show equivalence.
    Source: Schuirmann 1987; statsmodels `ttost_ind`, `ttost_paired` (checked).
    """
    if margin is not None and not margin > 0:
        raise BadArgument("a margin of equivalence is above 0", received=margin, allowed="> 0")
    control, treatment = _kept(control, treatment, paired)
    n = control.size + treatment.size if not paired else control.size
    if min(control.size, treatment.size) < 2:
        reason = f"{control.size} and {treatment.size} runs; 2 are needed in each"
        return _undecided(undefined(Status.N_TOO_SMALL, reason, n=n), margin)
    margin = float(control.std(ddof=1)) / 2 if margin is None else margin
    constant = "the control does not vary" if margin == 0 else _constant(control, treatment, paired)
    if constant:
        return _undecided(undefined(Status.CONSTANT_INPUT, f"nothing to judge by: {constant}", n=n), margin)
    if paired:
        p = ttost_paired(treatment, control, -margin, margin)[0]
        tested = stats.ttest_rel(treatment, control)
    else:
        p = ttost_ind(treatment, control, -margin, margin)[0]
        tested = stats.ttest_ind(treatment, control)
    inside = tested.confidence_interval(1 - 2 * alpha)
    difference = Reading(
        float(treatment.mean() - control.mean()), n=n, low=float(inside.low), high=float(inside.high)
    )
    return Equivalence(difference, margin, Reading(float(p), n=n), bool(p <= alpha))


def _kept(control: NDArray, treatment: NDArray, paired: bool) -> tuple[NDArray, NDArray]:
    control, treatment = (np.asarray(arm, dtype=np.float64).ravel() for arm in (control, treatment))
    if not paired:
        return control[np.isfinite(control)], treatment[np.isfinite(treatment)]
    if control.size != treatment.size:
        raise BadArgument(
            "paired arms have one partner each",
            received=f"{control.size} and {treatment.size} runs",
            allowed="as many in both, in the same order of seeds",
        )
    both = np.isfinite(control) & np.isfinite(treatment)
    return control[both], treatment[both]


def _constant(control: NDArray, treatment: NDArray, paired: bool) -> str:
    rounding = ROUNDING * max(np.abs(control).max(), np.abs(treatment).max())
    if paired:
        return "" if np.ptp(treatment - control) > rounding else "the differences do not vary"
    return "" if np.ptp(control) + np.ptp(treatment) > rounding else "neither arm varies"


def _undecided(why: Reading, margin: float | None) -> Equivalence:
    return Equivalence(why, math.nan if margin is None else margin, why, False)

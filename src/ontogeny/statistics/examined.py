"""What all detectors do alike: which values count, what the null reaches, and what may be claimed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ontogeny.errors import BadContract
from ontogeny.statistics.exceedance import exceedance_p
from ontogeny.vocabulary import Detected, Located, Verdict

#: Fewest usable checkpoints.
FEWEST_POINTS = 8
#: Most usable checkpoints, by default: time and memory of most detectors grow with their square.
LONGEST = 500
#: A series whose range is a smaller share of its largest value is constant: rounding is no change.
CONSTANT = 1e-12

#: (values [series, point]) -> the detector's statistic of each [series], the larger the more striking.
Strength = Callable[[NDArray], NDArray]


@dataclass(frozen=True)
class Examined:
    """A series a detector may look at: its finite values, and the null at the same checkpoints.

    `source` tells arrays apart that the null was taken from.
    """

    steps: NDArray
    values: NDArray
    null: NDArray | None
    note: str
    source: int = 0


#: Largest strengths by null and usable checkpoints, while `one_null` is open.
_KEPT: ContextVar[dict[tuple[int, bytes], NDArray] | None] = ContextVar("kept", default=None)


@contextmanager
def one_null() -> Iterator[None]:
    """While open, a null that several series are held against is gone through once.

    For one detector with one set of parameters over series of the same steps; the null must be the same
    array for all of them, and must live as long. Strengths may depend on steps and parameters only.
    """
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def examined(
    steps: NDArray, values: NDArray, null: NDArray | None, *, longest: int = LONGEST
) -> Examined | Located:
    """The usable part of a series; or the verdict `none`, where it is too short, too long or constant.

    steps [checkpoint], values [checkpoint], null [draw, place, checkpoint] or None. What is not finite is
    left out and said. BadContract if shapes disagree or steps do not increase.
    """
    check_series(steps, values, null)
    kept = np.flatnonzero(np.isfinite(values))
    left_out = np.size(values) - kept.size
    note = f"{left_out} checkpoints left out: not finite" if left_out else ""
    if kept.size < FEWEST_POINTS:
        reason = f"too-short: {kept.size} usable checkpoints, {FEWEST_POINTS} are needed"
        return Located(Verdict.NONE, reason=joined(reason, note))
    if kept.size > longest:
        remedy = "thin the series (medians of blocks), or look with `jump` or `half_rise`"
        reason = f"too-long: {kept.size} usable checkpoints, at most {longest} are looked at; {remedy}"
        return Located(Verdict.NONE, reason=joined(reason, note))
    usable = np.asarray(values, dtype=np.float64)[kept]
    if np.ptp(usable) <= CONSTANT * np.abs(usable).max():
        return Located(Verdict.NONE, size=0.0, reason=joined("no change: the series is constant", note))
    at = None if null is None else np.asarray(null, dtype=np.float64)[..., kept]
    return Examined(np.asarray(steps, dtype=np.float64)[kept], usable, at, note, id(null))


def check_series(steps: NDArray, values: NDArray, null: NDArray | None) -> None:
    """BadContract unless steps increase, values have one value a step, and the null the same checkpoints."""
    shapes = np.shape(steps), np.shape(values), None if null is None else np.shape(null)
    if len(shapes[0]) != 1 or shapes[1] != shapes[0]:
        raise BadContract(
            "a series has one value a step", received=shapes[:2], allowed="steps [n], values [n]"
        )
    if shapes[2] is not None and (len(shapes[2]) != 3 or shapes[2][2] != shapes[0][0]):
        raise BadContract("a null of another shape", received=shapes[2], allowed="[draw, place, checkpoint]")
    if not (np.all(np.diff(steps) > 0) and np.all(np.asarray(steps) >= 0)):
        raise BadContract("steps do not increase", received=steps, allowed="0 ≤ step, each above the last")


def check_settings(*, level: float, alpha: float, least: float, **counts: int) -> None:
    """BadContract unless 0 < level, alpha < 1, least ≥ 0 and every count is at least 1."""
    if not (0 < level < 1 and 0 < alpha < 1 and least >= 0 and all(count >= 1 for count in counts.values())):
        raise BadContract(
            "a parameter out of range",
            received={"level": level, "alpha": alpha, "least": least, **counts},
            allowed=f"0 < level, alpha < 1; least ≥ 0; {', '.join(counts) or 'counts'} ≥ 1",
        )


def null_maxima(null: NDArray, strength: Strength) -> NDArray:
    """The largest strength over places [draw] in every draw of null [draw, place, point].

    Gaps are bridged by straight lines; a series without two finite values says nothing, and a draw of which
    no place says anything is NaN.
    """
    draws, places, points = null.shape
    flat = null.reshape(-1, points)
    broken = np.array(~np.isfinite(flat).all(axis=1))
    whole = np.where(np.isfinite(flat), flat, 0.0)
    for row in np.flatnonzero(broken):
        fine = np.flatnonzero(np.isfinite(flat[row]))
        if fine.size > 1:
            whole[row] = np.interp(np.arange(points), fine, flat[row, fine])
            broken[row] = False
    found = np.where(broken, np.nan, strength(whole))
    return np.fmax.reduce(found.reshape(draws, places), axis=1)


def _maxima(series: Examined, null: NDArray, strength: Strength) -> NDArray:
    """`null_maxima`, once for all series that share their null and their usable checkpoints."""
    kept = _KEPT.get()
    if kept is None:
        return null_maxima(null, strength)
    key = series.source, series.steps.tobytes()
    if key not in kept:
        kept[key] = null_maxima(null, strength)
    return kept[key]


def judged(
    described: Sequence[Located],
    strengths: Sequence[float],
    series: Examined,
    strength: Strength,
    *,
    alpha: float,
    least: float,
) -> Detected:
    """Every described change the null allows to be claimed; else the strongest, and why nothing is claimed.

    `described` are in order of steps, their verdicts what they look like. A change is claimed where the
    null's largest strength reaches its own with p < alpha and its size is at least `least`.
    """
    if not described:
        return Located(Verdict.NONE, reason=joined("no change found", series.note))
    if series.null is None:
        maxima = None
    else:
        maxima = _maxima(series, series.null, strength)
    pairs = list(zip(described, strengths, strict=True))
    told = [_held(one, much, maxima, series.note, alpha, least) for one, much in pairs]
    claimed = tuple(one for one in told if one.verdict is not Verdict.NONE)
    if len(claimed) == 1:
        return claimed[0]
    return claimed or told[int(np.argmax(strengths))]


def _held(
    one: Located, strength: float, maxima: NDArray | None, note: str, alpha: float, least: float
) -> Located:
    shape = f"{one.verdict} ({one.reason})" if one.reason else str(one.verdict)
    if maxima is None:
        reason = f"no null is known for this quantity: nothing is claimed; it looks like {shape}"
        return replace(one, verdict=Verdict.NONE, reason=joined(reason, note))
    p = exceedance_p(strength, maxima, alpha=alpha)
    if p.reason:
        return replace(one, verdict=Verdict.NONE, reason=joined(p.reason, note))
    one = replace(one, p=float(p.value), reason=joined(one.reason, note))
    if not p.value < alpha:
        reason = f"the null reaches it with p = {float(p.value):.3g}"
        return replace(one, verdict=Verdict.NONE, reason=joined(reason, note))
    if (why := too_small(one.size, least)) and one.verdict is not Verdict.NONE:
        return replace(one, verdict=Verdict.NONE, reason=joined(why, note))
    return one


def too_small(size: float | None, least: float) -> str:
    """Why a change of this size is not worth telling; empty if it is."""
    if size is None or abs(size) >= least:
        return ""
    return f"too small to tell: {abs(size):.3g}, at least {least:.3g} is asked for"


def joined(*reasons: str) -> str:
    return "; ".join(reason for reason in reasons if reason)

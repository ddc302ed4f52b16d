"""half_rise: when a series went from one level to another, and whether that may be claimed."""

import math
import warnings
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ontogeny.catalogue import detector
from ontogeny.statistics.change import Change
from ontogeny.statistics.crossing import crossing, first_held, log_position, step_at
from ontogeny.statistics.examined import check_series, check_settings, too_small
from ontogeny.statistics.exceedance import exceedance_p
from ontogeny.statistics.noise import lasting_spread
from ontogeny.statistics.resampling import resampled_crossings
from ontogeny.statistics.rise import Rise
from ontogeny.vocabulary import Located, Reading, Verdict, digest

#: Fewest usable checkpoints.
FEWEST_POINTS = 8
#: How often the end may be moved from a later plateau to an earlier one.
PLATEAUS = 3
#: Squared sds of the residuals by which an abrupt rise must fit better than any slower one.
MARGIN = 0.75


@detector(
    source="definition ours; half-rise in log step, held against its null, instruments.md FOR-05, STA-01",
    finds=("rise", "fall"),
    surrogate={"either": True, "noise_multiple": 2.5},
)
def half_rise(
    steps: NDArray,
    values: NDArray,
    null: NDArray | None = None,
    *,
    level: float = 0.95,
    alpha: float = 0.01,
    noise_multiple: float = 5.0,
    width_limit: float = math.log(6),
    hold: int = 3,
    draws: int = 500,
    either: bool = False,
    least: float = 0.0,
) -> Located:
    """When a series passed half of its rise (or fall) from its first level to its last, and how sure that is.

    steps [checkpoint], increasing; values [checkpoint]; null [draw, place, checkpoint]: the same statistic
    under the null at every place the series could have been chosen from.

    Levels are medians of the first n/8 checkpoints (5 to 9; 3 of fewer than 16) and of the last n/5 (at least
    4; their last third if the series still climbs). Where a rise reaches a plateau and the series then only
    climbs on slowly, the plateau is the last level and what follows is no part of the change. The step is the
    first crossing of half of the size that holds for `hold` checkpoints or to the end, linear in ln step
    (step 0 at ln ½). Its interval joins the gap between the checkpoints around it with the percentiles of the
    crossing under `draws` resamplings of the residuals, seeded from the data. The width is ln step from 10 %
    to 90 % of the fitted rise.

    `transition` needs all of: (a) p < alpha, p = (1 + #{null's largest rise over places ≥ size}) / (null
    draws + 1); (b) a size of `noise_multiple` times the quiet noise, and times what the fitted rise leaves
    over, counted higher if that has a memory; (c) a rise within `width_limit` that fits better than every
    slower one, from a beginning that is not yet moving; (d) an end that no longer climbs. Without (d) it is
    `unfinished`, without (c) `gradual`, else `none`; `before-start`, with no step, if there is no rise, but
    the first level and the last are both beyond the null's and the first is past half of the last. Without a
    null nothing is claimed, and all numbers are still given. A null speaks of rises only (for a fall, negate
    values and null), unless `either`: then its largest changes in either direction are what counts. A claim
    smaller than `least`, in units of the values, becomes `none`. Held against surrogates of the series
    itself (`trend_matched`), noise and drift are in the null, so `noise_multiple` is 2.5 there.

    Errors: BadContract if shapes disagree or steps do not increase. Values that are not finite are left out.
    Known: a sharp step between checkpoints s and t -> √(s t), with [s, t] in its interval.
    Misleads: two rises are read as one; a plateau not quite reached makes the half early; a spike just before
    the rise moves the step there; where checkpoints span less than `width_limit` in ln step, only a ramp
    linear in step counts as gradual.
    Measured: see `benchmarks/calibration_half_rise.py` and `benchmarks/calibration.py`.
    """
    check_series(steps, values, null)
    check_settings(level=level, alpha=alpha, least=least, hold=hold, draws=draws)
    kept = np.flatnonzero(np.isfinite(values))
    left_out = np.size(values) - kept.size
    notes = [f"{left_out} checkpoints left out: not finite"] if left_out else []
    if kept.size < FEWEST_POINTS:
        reason = f"too-short: {kept.size} usable checkpoints, {FEWEST_POINTS} are needed"
        return Located(Verdict.NONE, level=level, reason="; ".join([reason, *notes]))
    steps, values = np.asarray(steps)[kept], np.asarray(values, dtype=np.float64)[kept]
    change = Change.of(log_position(steps), values)
    chance = None if null is None else _Chance.of(null, change, kept, alpha, either)
    if change.size == 0:
        looks = Verdict.NONE, "no change"
        verdict, reason = _judge(looks, change, chance, alpha, noise_multiple * change.noise)
        reason = "; ".join([reason, *notes])
        return Located(verdict, level=level, size=0.0, quiet_sd=change.noise, p=_p(chance), reason=reason)
    fit = change.fit(width_limit)
    for _ in range(PLATEAUS):
        if (abrupt := change.before_consolidation(fit)) is None or abrupt.size <= 0:
            break
        change, fit = abrupt, abrupt.fit(width_limit)
        chance = None if null is None else _Chance.of(null, change, kept, alpha, either)
    quiet, note = change.quiet_noise(fit)
    looks = _shape(change, fit, quiet, noise_multiple, width_limit)
    verdict, reason = _judge(looks, change, chance, alpha, noise_multiple * quiet)
    if verdict is Verdict.TRANSITION and (small := too_small(change.size, least)):
        verdict, reason = Verdict.NONE, small
    known = verdict is not Verdict.BEFORE_START
    step, low, high = _when(change, fit, steps, level, hold, draws) if known else (None, None, None)
    return Located(
        verdict,
        step=step,
        low=low,
        high=high,
        level=level,
        size=change.sign * change.size,
        width=fit.width,
        quiet_sd=quiet,
        p=_p(chance),
        reason="; ".join(part for part in (reason, note, *notes) if part),
        kind="rise" if change.sign > 0 else "fall",
    )


@dataclass(frozen=True)
class _Chance:
    """What the null says: p of the rise, of the level at the start and of that at the end; where it lies."""

    rise: Reading
    begun: Reading
    held: Reading
    baseline: float

    @classmethod
    def of(cls, null: NDArray, change: Change, kept: NDArray, alpha: float, either: bool) -> "_Chance":
        start, end = (_median(null[..., kept[window]]) for window in (change.start_window, change.end_window))
        size, sizes = change.sign * change.size, end - start
        if either:
            size, sizes = abs(size), np.abs(sizes)
        return cls(
            exceedance_p(size, np.fmax.reduce(sizes, axis=1), alpha=alpha),
            exceedance_p(change.sign * change.start, np.fmax.reduce(start, axis=1), alpha=alpha),
            exceedance_p(change.sign * change.end, np.fmax.reduce(end, axis=1), alpha=alpha),
            float(_median(end.reshape(1, -1))[0]),
        )


def _median(values: NDArray) -> NDArray:
    """Median over the last axis without NaN; NaN, and no warning, where there is nothing else."""
    if np.isfinite(values).all():
        return np.asarray(np.median(values, axis=-1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmedian(values, axis=-1)


def _p(chance: _Chance | None) -> float | None:
    return None if chance is None or chance.rise.reason else float(chance.rise.value)


def _shape(
    change: Change, fit: Rise, quiet: float, noise_multiple: float, width_limit: float
) -> tuple[Verdict, str]:
    """What the series looks like, whatever the null says: conditions (b), (c), (d) in this order."""
    if change.size < noise_multiple * quiet:
        return Verdict.NONE, f"the size is {change.size / quiet:.1f} times the quiet noise"
    left_over = lasting_spread(change.residuals(fit))
    if change.size < noise_multiple * left_over:
        return Verdict.NONE, f"the size is {change.size / left_over:.1f} times what a single rise leaves over"
    if change.moving(quiet):
        return Verdict.GRADUAL, "already moving at the first checkpoints"
    if fit.width > width_limit:
        return Verdict.GRADUAL, f"10 to 90 % takes {fit.width:.2f} in ln step"
    if fit.margin < MARGIN:
        return Verdict.GRADUAL, "a slower rise fits as well"
    if change.climbing:
        return Verdict.UNFINISHED, "still climbing at the last checkpoints"
    return Verdict.TRANSITION, ""


def _judge(
    looks: tuple[Verdict, str], change: Change, chance: _Chance | None, alpha: float, enough: float
) -> tuple[Verdict, str]:
    """The claim: what the series looks like, if the null allows it; `enough` is a size above the noise."""
    shape, why = looks
    if chance is None:
        like = f"{shape} ({why})" if why else shape
        return Verdict.NONE, f"no null is known for this quantity: nothing is claimed; it looks like {like}"
    if chance.rise.reason:
        return Verdict.NONE, chance.rise.reason
    beyond = float(chance.rise.value) < alpha
    if beyond and shape is not Verdict.NONE:
        return shape, why
    start, end = (change.sign * value - chance.baseline for value in (change.start, change.end))
    beyond_null = max(float(chance.begun.value), float(chance.held.value)) < alpha
    if beyond_null and end >= enough and start >= end / 2:
        return Verdict.BEFORE_START, "the level held is beyond the null's, and already there at the start"
    if not beyond:
        fall = "; it falls, and the null speaks of rises" if change.sign < 0 else ""
        return Verdict.NONE, f"the null reaches the size with p = {float(chance.rise.value):.3g}{fall}"
    return Verdict.NONE, why


def _when(
    change: Change, fit: Rise, steps: NDArray, level: float, hold: int, draws: int
) -> tuple[float | None, float | None, float | None]:
    """The half-rise step and its interval: the gap around it, joined with the resampled crossings."""
    half = change.start + change.size / 2
    index = int(first_held(change.values, half, hold))
    if index < 0:
        return None, None, None
    step = step_at(float(crossing(change.positions, change.values, half, hold)))
    crossings = resampled_crossings(
        change.positions,
        change.start + change.size * fit.curve,
        change.residuals(fit),
        noise=change.local_noise(fit),
        windows=(change.start_window, change.end_window),
        hold=hold,
        draws=draws,
        seed=digest([torch.tensor(change.positions), torch.tensor(change.values)]),
    )
    low, high = (
        np.quantile(crossings, [(1 - level) / 2, (1 + level) / 2])
        if crossings.size
        else (math.inf, -math.inf)
    )
    return step, min(float(steps[max(index - 1, 0)]), step_at(low)), max(float(steps[index]), step_at(high))

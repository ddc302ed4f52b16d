"""jump: where a series leaves its quiet window from one checkpoint to the next."""

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ontogeny.catalogue import detector
from ontogeny.statistics.autoregression import noise_memory, noise_sd
from ontogeny.statistics.change_time import located_change
from ontogeny.statistics.contrast import detrended, steepness
from ontogeny.statistics.crossing import log_position, step_at
from ontogeny.statistics.examined import Examined, check_settings, examined, judged
from ontogeny.statistics.surrogate import without_step
from ontogeny.statistics.trend import without_outliers
from ontogeny.vocabulary import Detected, Located, Verdict

#: Fewest points of a quiet window.
FEWEST_QUIET = 3
#: Most checkpoints: its time and memory grow with their number, not with its square.
LONGEST = 1_000_000
#: As many jumps of one series are looked at.
MOST = 20
#: No more are looked for below this share of the largest.
SHARE = 0.2
#: A level held for fewer points is a spike, and spikes are then not pulled in.
SHORTEST_LEVEL = 3


@detector(source="definition ours", finds=("jump",))
def jump(
    steps: NDArray,
    values: NDArray,
    null: NDArray | None = None,
    *,
    hold: int = 8,
    quiet: int = 8,
    level: float = 0.95,
    alpha: float = 0.01,
    least: float = 0.0,
) -> Detected:
    """Where a series changes most between two neighbouring checkpoints, against the quiet window before.

    At every checkpoint: the mean of it and the following ones, `hold` in all, less the mean of the `quiet`
    ones before it (at least 3), over √(1/hold + 1/quiet), the smooth trend taken out. The
    largest is taken out, then the next is looked for. With `hold` of 1 or 2 a spike is a jump however it
    goes on, and the quiet window is read by its median. The null's largest over all checkpoints gives p.

    The step is the middle of the gap in ln step; the interval as `pelt` gives it, for a spike the gap itself.
    Errors: BadContract if shapes disagree or steps do not increase. Values that are not finite are left out.
    Known: a step of any size without noise -> its gap; one point of 10 sds with hold=1 -> that point.
    Misleads: noise with tails heavier than 6 sds is full of spikes: with hold=1 each is a jump.
    """
    check_settings(level=level, alpha=alpha, least=least, hold=hold, quiet=quiet)
    series = examined(steps, values, null, longest=LONGEST)
    if isinstance(series, Located):
        return series

    def leaps(several: NDArray) -> NDArray:
        return _leaps(series.steps, several, hold, quiet)

    at, found = _one_after_another(series.values, leaps, hold, quiet)
    described = [_described(series, index, hold, quiet, level) for index in at]
    return judged(
        described, found, series, lambda several: np.abs(leaps(several)).max(axis=1), alpha=alpha, least=least
    )


def _leaps(steps: NDArray, values: NDArray, hold: int, quiet: int) -> NDArray:
    """Signed strength [series, point] of the change at each point; 0 where a window is too short."""
    if hold >= SHORTEST_LEVEL:
        return steepness(detrended(steps, values), quiet, hold)
    points, strength = values.shape[1], np.zeros_like(values)
    padded = np.pad(values, ((0, 0), (quiet - FEWEST_QUIET, 0)), mode="edge")
    middle = np.median(sliding_window_view(padded, quiet, axis=1), axis=-1)
    count = points - FEWEST_QUIET - hold + 1
    later = sliding_window_view(values[:, FEWEST_QUIET:], hold, axis=1).mean(axis=-1)
    strength[:, FEWEST_QUIET : FEWEST_QUIET + count] = later - middle[:, :count]
    return strength


def _one_after_another(
    values: NDArray, leaps: Callable[[NDArray], NDArray], hold: int, quiet: int
) -> tuple[list[int], list[float]]:
    """Points and strengths of jumps, in order of steps: the largest, then the largest of what is left over.

    Each is taken out before the next is looked for, so that a large one has no shadows.
    """
    rest, found, last = values.copy(), {}, np.inf
    while len(found) < MOST:
        strength = leaps(rest[None])[0]
        top = int(np.abs(strength).argmax())
        size = abs(float(strength[top]))
        if top in found or not SHARE * max(found.values(), default=0.0) < size < last:
            break
        found[top], last = size, size
        before = min(top, quiet)
        if hold < SHORTEST_LEVEL:
            rest[top : top + hold] -= strength[top]
        else:
            after = min(hold, values.size - top)
            rest[top:] -= strength[top] * np.sqrt(1 / before + 1 / after)
    order = sorted(found)
    return order, [found[point] for point in order]


def _described(series: Examined, at: int, hold: int, quiet: int, level: float) -> Located:
    spike = hold < SHORTEST_LEVEL
    values = series.values if spike else without_outliers(series.values)
    begin, end = max(at - quiet, 0), min(at + max(hold, SHORTEST_LEVEL), values.size)
    size = float(values[at : at + hold].mean() - np.median(values[begin:at]))
    phi = float(noise_memory(without_step(values)))
    if spike:
        low, high = (float(step) for step in series.steps[at - 1 : at + 1])
        step = step_at(float(log_position(series.steps[at - 1 : at + 1]).mean()))
    else:
        step, low, high = located_change(series.steps, values, at, (begin, end), phi, level)
    sd = float(noise_sd(without_step(values), phi))
    return Located(Verdict.TRANSITION, step, low, high, level, size, quiet_sd=sd, kind="jump")

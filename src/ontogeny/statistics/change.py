"""A series read as one change from a first level to a last: its levels, its rise and its noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontogeny.statistics.noise import lasting_spread, noise_scale, spread
from ontogeny.statistics.rise import Rise, fit_rise

#: Fewest quiet points before a rise that give a noise of their own.
FEWEST_QUIET = 8
#: Fewest residuals of one side of a rise that give that side's noise.
FEWEST_SIDE = 5
#: A series is still climbing if the end window does by this share of the change and this many noise sds.
CLIMB_SHARE, CLIMB_NOISE = 0.1, 3.0
#: A rise may reach this share of the change at once and the rest by slow consolidation, as long as what comes
#: later never falls below this share of the plateau it reached first.
CONSOLIDATING, KEPT = (0.5, 0.95), 0.9
#: Fewest points that must follow a first plateau for what follows to be called consolidation.
FEWEST_LATER = 3
#: The beginning is already moving if the start window does by this share and this many noise sds.
MOVING_SHARE, MOVING_NOISE = 0.2, 3.0


@dataclass(frozen=True)
class Change:
    """A series [point] turned so that it rises from `start` to `end`; times `sign`, it is as it was.

    `start` is the median of the first n/8 points (3 of fewer than 16 points, else 5 to 9), `end` that of the
    last n/5 (at least 4), or of their last third while the series is `climbing`; `noise` that of the whole.
    """

    positions: NDArray
    values: NDArray
    sign: int
    start: float
    end: float
    start_window: slice
    end_window: slice
    noise: float
    climbing: bool

    @classmethod
    def of(cls, positions: NDArray, values: NDArray) -> "Change":
        n = values.size
        first, last = (3 if n < 16 else min(max(5, n // 8), 9)), max(4, n // 5)
        third = max(3, last // 3)
        begin, final, tip = slice(0, first), slice(n - last, n), slice(n - third, n)
        head = slice(n - last, n - last + third)
        start, end, top, before = (float(np.median(values[window])) for window in (begin, final, tip, head))
        noise = _noise(positions, values, values)
        late = np.fmax(noise, _noise(positions[final], values[final], values))
        climb = top - before if top >= start else before - top
        climbing = climb > 0 and climb >= max(CLIMB_SHARE * abs(top - start), CLIMB_NOISE * late)
        final, end = (tip, top) if climbing else (final, end)
        sign = 1 if end >= start else -1
        return cls(
            positions, sign * values, sign, sign * start, sign * end, begin, final, noise, bool(climbing)
        )

    @property
    def size(self) -> float:
        return self.end - self.start

    def fit(self, width_limit: float) -> Rise:
        shares = (self.values - self.start) / self.size
        return fit_rise(self.positions, shares, self.noise / self.size, width_limit)

    def before_consolidation(self, fit: Rise) -> "Change | None":
        """The part up to the end of the first plateau after a rise, if the series then climbs on slowly.

        None if there is no such plateau, if it is the end itself, or if the series falls back from it: then
        the whole series is the change.
        """
        n = self.values.size
        first = int(np.searchsorted(self.positions, fit.late, side="right"))
        last = first + max(4, n // 5)
        if last > n - FEWEST_LATER or self.size <= 0:
            return None
        reached = float(np.median(self.values[first:last])) - self.start
        low, high = CONSOLIDATING
        kept = float(np.min(self.values[last:])) - self.start >= KEPT * reached
        if not (low <= reached / self.size < high and kept):
            return None
        return Change.of(self.positions[:last], self.sign * self.values[:last])

    def residuals(self, fit: Rise) -> NDArray:
        return self.values - self.start - self.size * fit.curve

    def quiet_noise(self, fit: Rise) -> tuple[float, str]:
        """Noise before the rise; that of the whole series, and a note, where too few points are before it."""
        quiet = int(np.searchsorted(self.positions, fit.early))
        if quiet < FEWEST_QUIET:
            return self.noise, f"{quiet} quiet checkpoints before the rise: noise is that of the whole series"
        return _noise(self.positions[:quiet], self.values[:quiet], self.values), ""

    def local_noise(self, fit: Rise) -> NDArray:
        """Noise at every point: before the rise, after it, and in between by how far it has come.

        Counted higher by the memory of the residuals, for those who draw them again one by one.
        """
        left = self.residuals(fit)
        before, after = left[self.positions < fit.early], left[self.positions > fit.late]
        quiet, late = (spread(side if side.size >= FEWEST_SIDE else left) for side in (before, after))
        memory = lasting_spread(left) / spread(left) if spread(left) else 1.0
        return memory * (quiet + (late - quiet) * fit.curve)

    def moving(self, noise: float) -> bool:
        """Whether the series moves within its start window, so that no beginning was seen."""
        window = self.values[self.start_window]
        drift = abs(float(np.median(window[-3:]) - np.median(window[:3])))
        return drift > max(MOVING_SHARE * self.size, MOVING_NOISE * noise)


def _noise(positions: NDArray, values: NDArray, series: NDArray) -> float:
    """Noise of a stretch, with the floor of the whole series; NaN if the stretch is too short."""
    return float(noise_scale(positions, values, largest=float(np.abs(series).max())).value)

"""Series with and without changes, for calibrating detectors, and where the change truly is."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.signal
import scipy.special
from numpy.random import Generator
from numpy.typing import NDArray

#: Evenly spaced checkpoints, and the demo's.
EVEN = np.arange(1, 61)
DEMO = np.array([0, *(1 << k for k in range(10)), *range(550, 2001, 50)])

Process = Callable[[Generator, NDArray], NDArray]


class Drawn(NamedTuple):
    """A series [checkpoint] and the step at which it truly changes."""

    values: NDArray
    truth: float


def white(rng: Generator, steps: NDArray) -> NDArray:
    return rng.normal(size=steps.size)


def remembering(rng: Generator, steps: NDArray, phi: float = 0.7) -> NDArray:
    shocks = rng.normal(size=steps.size + 100) * np.sqrt(1 - phi**2)
    return np.asarray(scipy.signal.lfilter([1.0], [1.0, -phi], shocks))[100:]


def heavy(rng: Generator, steps: NDArray, freedom: int = 2) -> NDArray:
    return rng.standard_t(freedom, size=steps.size)


def power_law(rng: Generator, steps: NDArray) -> NDArray:
    return (steps - steps[0] + 1.0) ** -rng.uniform(0.2, 1)


def exponential(rng: Generator, steps: NDArray) -> NDArray:
    constant = np.exp(rng.uniform(np.log(3), np.log(steps.size))) * steps[-1] / steps.size
    return np.exp(-(steps - steps[0]) / constant)


def noisy(curve: Process, sd: float) -> Process:
    return lambda rng, steps: curve(rng, steps) + sd * rng.normal(size=steps.size)


def in_step(rng: Generator, steps: NDArray) -> NDArray:
    return (steps - steps[0]) / (steps[-1] - steps[0])


def in_ln_step(rng: Generator, steps: NDArray) -> NDArray:
    return in_step(rng, np.log(np.maximum(steps, 0.5)))


def half_wave(rng: Generator, steps: NDArray) -> NDArray:
    return np.sin(np.pi * (rng.uniform(0.3, 1.2) * in_step(rng, np.arange(steps.size)) + rng.uniform(0, 2)))


#: Nothing forms here: a claim is a false alarm.
STILL: dict[str, Process] = {
    "white noise": white,
    "AR(0.7)": remembering,
    "t(2) noise": heavy,
    "power law, noise .1": noisy(power_law, 0.1),
    "power law, noise .01": noisy(power_law, 0.01),
    "exponential, noise .1": noisy(exponential, 0.1),
    "exponential, noise .01": noisy(exponential, 0.01),
}
#: Nothing forms here either, but the series goes somewhere: it may be refused or called gradual.
DRIFTING: dict[str, Process] = {
    "random walk": lambda rng, steps: rng.normal(size=steps.size).cumsum(),
    "drift in step, .1": noisy(in_step, 0.1),
    "drift in ln step, .1": noisy(in_ln_step, 0.1),
    "slow wave, .1": noisy(half_wave, 0.1),
}


def gap(rng: Generator, steps: NDArray) -> float:
    """A position in ln step, alike in every gap of the middle half of the checkpoints."""
    positions = np.log(np.maximum(steps, 0.5))
    at = rng.integers(steps.size // 4, 3 * steps.size // 4)
    return float(positions[at - 1] + rng.uniform() * (positions[at] - positions[at - 1]))


def step(rng: Generator, steps: NDArray, size: float, noise: Process = white) -> Drawn:
    """A level left for another at once."""
    centre = gap(rng, steps)
    return Drawn(size * (np.log(np.maximum(steps, 0.5)) > centre) + noise(rng, steps), float(np.exp(centre)))


def rise(rng: Generator, steps: NDArray, size: float) -> Drawn:
    """A logistic rise in ln step whose 10 to 90 % takes 0.01 to 1, log-uniform."""
    centre, width = gap(rng, steps), np.exp(rng.uniform(np.log(0.01), 0))
    off = (np.log(np.maximum(steps, 0.5)) - centre) * np.log(81) / width
    return Drawn(size * scipy.special.expit(off) + white(rng, steps), float(np.exp(centre)))


def bump(rng: Generator, steps: NDArray, size: float) -> Drawn:
    """A Gaussian bump over checkpoints with an sd of 3 to 8 of them."""
    place = rng.uniform(steps.size / 4, 3 * steps.size / 4)
    off = (np.arange(steps.size) - place) / rng.uniform(3, 8)
    return Drawn(size * np.exp(-(off**2) / 2) + white(rng, steps), _between(steps, place))


def tent(rng: Generator, steps: NDArray, size: float) -> Drawn:
    """Straight up over checkpoints, then straight down, by `size` on both sides."""
    place = rng.uniform(steps.size / 4, 3 * steps.size / 4)
    off = np.arange(steps.size) - place
    down = np.where(off < 0, -off / place, off / (steps.size - 1 - place))
    return Drawn(-size * down + white(rng, steps), _between(steps, place))


def _between(steps: NDArray, place: float) -> float:
    return float(np.exp(np.interp(place, np.arange(steps.size), np.log(np.maximum(steps, 0.5)))))

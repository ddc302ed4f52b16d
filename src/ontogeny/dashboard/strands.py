"""A metric over an axis, from all attempts of a run; what a later attempt replaced stays apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontogeny.dashboard.attempts import Attempt
from ontogeny.errors import UnknownName
from ontogeny.views.buckets import LARGEST_STEP

Ticks = NDArray[np.int64]
Numbers = NDArray[np.float64]

#: What x may be, and how many ticks make one of its units: a bucket's edges are whole ticks.
AXES = {"step": 1, "tokens": 1, "time": 1024}
#: Counted by the recorder beside each training step.
TOKENS = "tokens"


@dataclass(frozen=True)
class Strand:
    """Points by ascending x. Either all that stand (`superseded` false), of several attempts one after the
    other, or what one attempt recorded and a later one replaced.

    x is in ticks (`AXES`); `segments` has attempt, first and last x of each stretch, in the axis' unit.
    """

    attempt: int
    superseded: bool
    segments: tuple[tuple[int, float, float], ...]
    x: Ticks
    y: Numbers

    def __len__(self) -> int:
        return len(self.x)


def strands(attempts: Sequence[Attempt], metric: str, axis: str) -> list[Strand]:
    """What stands first, then what was replaced; nothing if the run has none of it.

    At the step where an attempt takes up, the older attempt's records stand unless the newer has its own.
    Time is that spent training: attempts follow one another without the pause between them. Tokens are those
    counted by the nearest training step before; UnknownName for a run that counted none.
    """
    limits, tokens = _limits(attempts, metric), None
    if axis == TOKENS and metric != TOKENS:
        tokens = next(iter(strands(attempts, TOKENS, "step")), None)
        if tokens is None:
            raise UnknownName("axis of this run", axis, ("step", "time"))
    standing, replaced, elapsed = [], [], 0.0
    for number, attempt in enumerate(attempts):
        rows, values = attempt.values(metric)
        every = len(rows) == len(attempt.steps)  # then nothing is copied
        steps = attempt.steps if every else attempt.steps[rows]
        if axis == "time":
            seconds = attempt.seconds if every else attempt.seconds[rows]
            x = np.round((seconds + elapsed) * AXES["time"]).astype(np.int64)
            elapsed += float(attempt.seconds[-1]) if len(attempt.seconds) else 0.0
        elif tokens is not None:
            x = _tokens_at(steps, tokens)
        elif axis == TOKENS:
            x = values.astype(np.int64)
        else:
            x = steps
        limit, inclusive = limits[number]
        stands = steps <= limit if inclusive else steps < limit
        standing.append(_strand(number, False, x, values, stands, axis))
        replaced.append(_strand(number, True, x, values, ~stands, axis))
    whole = _together([strand for strand in standing if len(strand)])
    return [*whole, *(strand for strand in replaced if len(strand))]


def seconds_at(attempts: Sequence[Attempt], steps: Sequence[int]) -> list[float | None]:
    """Seconds spent training when each step was taken: its first record that stands, else between the records
    beside it. 0 before the first record; None behind the last, where nothing says how long it took.
    """
    taken, spent, elapsed = [np.empty(0, np.int64)], [np.empty(0)], 0.0
    for number, attempt in enumerate(attempts):
        stands = attempt.steps <= min((one.taken_up for one in attempts[number + 1 :]), default=np.inf)
        taken.append(attempt.steps[stands])
        spent.append(attempt.seconds[stands] + elapsed)
        elapsed += float(attempt.seconds[-1]) if len(attempt.seconds) else 0.0
    x, y = np.concatenate(taken), np.concatenate(spent)
    if (np.diff(x) < 0).any():
        order = np.argsort(x, kind="stable")
        x, y = x[order], y[order]
    return [_second(x, y, step) for step in steps]


def _second(steps: Ticks, seconds: Numbers, step: int) -> float | None:
    """The second of a step, by ascending steps."""
    after = int(np.searchsorted(steps, step))
    if after == len(steps):
        return None
    if steps[after] != step and after > 0:
        share = (step - steps[after - 1]) / (steps[after] - steps[after - 1])
        return float(seconds[after - 1] + share * (seconds[after] - seconds[after - 1]))
    return float(seconds[after]) if steps[after] == step else 0.0


def _limits(attempts: Sequence[Attempt], metric: str) -> list[tuple[float, bool]]:
    """Up to which step each attempt's records of a metric stand, and whether those of that step do."""
    found = []
    for number in range(len(attempts)):
        limit = min((later.taken_up for later in attempts[number + 1 :]), default=np.inf)
        again = False
        if np.isfinite(limit):
            for later in attempts[number + 1 :]:
                again = again or bool((later.steps[later.values(metric)[0]] == limit).any())
        found.append((limit, not again))
    return found


def _tokens_at(steps: Ticks, tokens: Strand) -> Ticks:
    """Tokens seen by each step; 0 before any were counted."""
    before = np.searchsorted(tokens.x, steps, side="right") - 1
    return np.where(before >= 0, tokens.y[np.maximum(before, 0)], 0).astype(np.int64)


def _strand(
    attempt: int, superseded: bool, x: Ticks, y: Numbers, chosen: NDArray[np.bool_], axis: str
) -> Strand:
    if len(x):
        chosen = chosen & (x >= 0) & (x <= LARGEST_STEP)
    if not chosen.all():
        x, y = x[chosen], y[chosen]
    if len(x) and (np.diff(x) < 0).any():
        order = np.argsort(x, kind="stable")
        x, y = x[order], y[order]
    unit = AXES[axis]
    segments = ((attempt, float(x[0]) / unit, float(x[-1]) / unit),) if len(x) else ()
    return Strand(attempt, superseded, segments, x, y)


def _together(parts: list[Strand]) -> list[Strand]:
    if len(parts) < 2:
        return parts
    x, y = (np.concatenate([getattr(part, name) for part in parts]) for name in ("x", "y"))
    if (np.diff(x) < 0).any():
        order = np.argsort(x, kind="stable")
        x, y = x[order], y[order]
    return [Strand(parts[-1].attempt, False, sum((part.segments for part in parts), ()), x, y)]

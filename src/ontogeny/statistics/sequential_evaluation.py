"""Asking items until the score is known well enough (STA-07)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontogeny.errors import BadArgument
from ontogeny.statistics.confidence_sequence import bernstein_sequence
from ontogeny.vocabulary import Reading, Status, undefined

#: Beyond this many items the interval is looked at only when this share more have been asked.
OFTEN, SHARE = 200, 0.01


@dataclass(frozen=True)
class SequentialEvaluation:
    """What was asked, and what is known after each look.

    score      the mean score, its interval and the number of items asked
    narrow     whether the interval became narrow enough
    asked      which items were asked, in this order
    scores     what they scored [asked]
    looks      after how many items the interval was looked at [look]
    low, high  the interval then: what all looks so far leave possible [look]
    """

    score: Reading
    narrow: bool
    asked: tuple[int, ...]
    scores: NDArray
    looks: NDArray
    low: NDArray
    high: NDArray


def sequential_evaluation(
    ask: Callable[[Sequence[Any]], Sequence[float]],
    items: Sequence[Any],
    width: float,
    *,
    alpha: float = 0.05,
    batch: int = 1,
    most: int | None = None,
    these: bool = True,
    seed: int = 0,
) -> SequentialEvaluation:
    """Ask items in random order until the mean score's interval (`high − low`) is at most `width`.

    `ask(some items)` scores `batch` of them at a time, each from 0 (wrong) to 1 (right). The interval holds
    at every look at once (`bernstein_sequence`), so stopping early costs nothing. With `these` the score is
    that of exactly these items, so that after all of them it is exact; otherwise of items like these. `most`
    bounds how many are asked.
    Status: `no-target` without items, `nonfinite` where a score is not finite (asking stops there; the item
    is named), `unconverged` where the looks contradict each other, which has a chance of at most alpha.
    BadArgument for a score outside [0, 1], or an answer of another length.
    Known: 10,000 items, 95 % right, width 0.04 -> about 1,500 asked; a width of 0 asks all.
    Misleads: the width is of one model's score. For the difference of two let `ask` return
    (1 + after − before) / 2, and halve the width: both models' errors on an item then cancel.
    """
    if batch < 1 or not 0 < alpha < 1 or not width >= 0:
        received = f"batch {batch}, alpha {alpha}, width {width}"
        raise BadArgument("this cannot be asked", received=received, allowed="≥ 1, 0 to 1, ≥ 0")
    count = len(items)
    limit = count if most is None else min(most, count)
    order = np.random.default_rng(seed).permutation(count)
    scores, looks, limits = np.empty(0), [], [(0.0, 1.0)]
    while len(scores) < limit and limits[-1][1] - limits[-1][0] > width:
        chosen = order[len(scores) : min(len(scores) + batch, limit)]
        scores = np.append(scores, _answered(ask, [items[index] for index in chosen]))
        if not np.isfinite(scores).all():
            break
        done = len(scores) == limit
        if len(scores) > OFTEN and not done and looks and len(scores) < looks[-1] * (1 + SHARE):
            continue
        looks.append(len(scores))
        limits.append(_limits(scores, limits[-1], alpha, count if these else None))
        if limits[-1][0] > limits[-1][1]:
            break
    return _told(scores, order, looks, limits, width)


def _answered(ask: Callable[[Sequence[Any]], Sequence[float]], batch: list[Any]) -> NDArray:
    found = np.asarray(ask(batch), dtype=np.float64).ravel()
    wrong = (found < 0) | (found > 1)
    if len(found) != len(batch) or wrong[np.isfinite(found)].any():
        raise BadArgument(
            "an item scores from 0 to 1",
            received=f"{len(found)} scores of {len(batch)} items: {', '.join(map(str, found[:5]))}",
            allowed="one score an item, 0 (wrong) to 1 (right)",
        )
    return found


def _limits(
    scores: NDArray, before: tuple[float, float], alpha: float, population: int | None
) -> tuple[float, float]:
    """What this look and all before it leave possible; the mean itself once nothing is left to ask."""
    if len(scores) == population:
        return float(scores.mean()), float(scores.mean())
    found = bernstein_sequence(scores, alpha=alpha, population=population)
    return max(before[0], float(found.low[-1])), min(before[1], float(found.high[-1]))


def _told(
    scores: NDArray, order: NDArray, looks: list[int], limits: list[tuple[float, float]], width: float
) -> SequentialEvaluation:
    low, high = np.array(limits[1:]).reshape(-1, 2).T
    n, narrow = len(scores), False
    if n == 0:
        score = undefined(Status.NO_TARGET, "no item was asked", n=0)
    elif not np.isfinite(scores).all():
        bad = order[: len(scores)][~np.isfinite(scores)][0]
        score = undefined(Status.NONFINITE, f"item {bad} scored no finite number", n=n)
    elif low[-1] > high[-1]:
        score = undefined(Status.UNCONVERGED, "no score agrees with all looks", n=n)
    else:
        narrow = bool(high[-1] - low[-1] <= width)
        mean = float(np.clip(scores.mean(), low[-1], high[-1]))
        score = Reading(mean, n=n, low=float(low[-1]), high=float(high[-1]))
    asked = tuple(int(index) for index in order[:n])
    return SequentialEvaluation(score, narrow, asked, scores, np.array(looks, dtype=np.int64), low, high)

"""Items that a model gained and lost, held against how often it contradicts itself."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ontogeny.errors import BadArgument
from ontogeny.statistics.arrangements import units_to_reach
from ontogeny.statistics.false_discovery import false_discovery
from ontogeny.statistics.intervals import t_interval
from ontogeny.vocabulary import Reading, Status, undefined

#: Tables less likely than the observed one up to this factor count as equally likely, as in scipy.
TIE = 1e-7


@dataclass(frozen=True)
class Answers:
    """How often each item was answered right, and how often it was asked [item]."""

    right: NDArray
    asked: NDArray

    @property
    def share(self) -> NDArray:
        """Share of right answers [item]."""
        return self.right / self.asked

    @property
    def flips(self) -> NDArray:
        """Chance that two evaluations of the model disagree [item]; NaN where it was asked once.

        2 k (n − k) / (n (n − 1)), which has no bias.
        """
        right, asked = self.right.astype(np.float64), self.asked
        pairs = np.where(asked > 1, asked * (asked - 1), 1)
        return np.where(asked > 1, 2 * right * (asked - right) / pairs, np.nan)


@dataclass(frozen=True)
class ItemChanges:
    """What changed from `before` to `after`, item by item and as a whole.

    p, q          exact p of every item, and q over those that could reach alpha [item]; NaN for the others
    gained, lost  whether the change of an item is told from noise [item]
    tested        how many items could reach alpha, given how often they were right at all
    refusal       why no item can be told from noise; "" where some could
    net           mean change in the share of right answers, over items
    flips         how often two evaluations of one model disagree about an item: before, after
    listed        gains and losses that one evaluation of each model lists on average
    by_chance     how many of each list would be there on average had nothing changed
    """

    p: NDArray
    q: NDArray
    gained: NDArray
    lost: NDArray
    tested: int
    refusal: str
    net: Reading
    flips: tuple[Reading, Reading]
    listed: tuple[float, float]
    by_chance: Reading


def item_changes(before: Answers, after: Answers, *, alpha: float = 0.05) -> ItemChanges:
    """Hold two models' answers to the same items against each other.

    Each item is tested by Fisher's exact test on its replicate evaluations; items whose total of right
    answers could never reach alpha (always right, always wrong) are left out before the others are counted
    (Tarone, Gilbert), and q is Benjamini and Hochberg's. `by_chance` is Σ k (n − k) / (n (n − 1)) over items,
    the gains between two evaluations of one and the same model, averaged over both models.
    BadArgument for items asked less than once, or right more often than asked.
    The interval of `by_chance` is of that mean count; one list varies about it as counts do.
    Known: 5 of 5 wrong, then 5 of 5 right -> p 2 / 252; no contradictions -> 0 by chance.
    Misleads: replicates must vary in what would vary again (sampling seed, order of shots, training seed):
    copies of one evaluation make noise look like change. `by_chance` counts as noise the
    flickering of items that did change, so it errs upwards where much changed.
    Source: Fisher 1935; Gilbert 2005 (recalled).
    """
    _checked(before, after)
    asked = np.concatenate([before.asked, after.asked])
    replicated = int(asked.max(initial=0)) > 1
    p, least = _exact(before, after)
    able = least <= alpha if replicated else np.zeros(p.shape, dtype=bool)
    adjusted = false_discovery(np.where(able, p, np.nan))
    change = after.share - before.share
    claimed = np.nan_to_num(adjusted.q, nan=1.0) <= alpha
    listed = tuple(float((one * other).sum()) for one, other in _turned(before, after))
    return ItemChanges(
        np.where(able, p, np.nan),
        adjusted.q,
        claimed & (change > 0),
        claimed & (change < 0),
        adjusted.tested,
        "" if able.any() else _refusal(asked, alpha),
        t_interval(change),
        (_flips(before), _flips(after)),
        (listed[0], listed[1]),
        _by_chance(before, after),
    )


def _checked(before: Answers, after: Answers) -> None:
    sizes = {side.size for answers in (before, after) for side in (answers.right, answers.asked)}
    if len(sizes) > 1 or any(_impossible(answers) for answers in (before, after)):
        raise BadArgument(
            "both models answer the same items, each at least once",
            received=f"{', '.join(map(str, sorted(sizes)))} items" if len(sizes) > 1 else "impossible counts",
            allowed="arrays [item] of one length, 0 ≤ right ≤ asked, asked ≥ 1",
        )


def _impossible(answers: Answers) -> bool:
    right, asked = answers.right, answers.asked
    return bool(((asked < 1) | (right < 0) | (right > asked)).any())


def _exact(before: Answers, after: Answers) -> tuple[NDArray, NDArray]:
    """Fisher's two-sided p of every item, and the smallest that its margins allow [item]."""
    counts = np.column_stack([before.right, before.asked, after.right, after.asked]).astype(np.int64)
    kinds, which = np.unique(counts, axis=0, return_inverse=True)
    found = np.array([_fisher(*kind) for kind in kinds.tolist()]).reshape(-1, 2)[which.ravel()]
    return found[:, 0], found[:, 1]


def _fisher(right: int, asked: int, right_after: int, asked_after: int) -> tuple[float, float]:
    total = right + right_after
    possible = np.arange(max(0, total - asked_after), min(asked, total) + 1)
    chances = stats.hypergeom.pmf(possible, asked + asked_after, total, asked)
    observed = chances[right - possible[0]]
    p, least = (float(chances[chances <= limit * (1 + TIE)].sum()) for limit in (observed, chances.min()))
    return min(p, 1.0), min(least, 1.0)


def _turned(before: Answers, after: Answers) -> tuple[tuple[NDArray, NDArray], tuple[NDArray, NDArray]]:
    """Chances of the two answers that make a gain, and of those that make a loss."""
    return (1 - before.share, after.share), (before.share, 1 - after.share)


def _flips(answers: Answers) -> Reading:
    found = answers.flips[answers.asked > 1]
    if not found.size:
        return undefined(Status.N_TOO_SMALL, "no item was asked twice", n=0)
    return t_interval(found)


def _by_chance(before: Answers, after: Answers) -> Reading:
    rates = [rate for rate in map(_flips, (before, after)) if rate.n]
    if not rates:
        return undefined(Status.N_TOO_SMALL, "neither model was evaluated twice", n=0)
    items = before.asked.size / 2  # one disagreement in two is a gain
    value = items * sum(float(rate.value) for rate in rates) / len(rates)
    if any(rate.high is None for rate in rates):
        return Reading(value, n=before.asked.size)
    halves = [float(rate.high - rate.value) for rate in rates if rate.high is not None]
    half = items * float(np.sqrt(np.square(halves).sum())) / len(rates)
    return Reading(value, n=before.asked.size, low=max(0.0, value - half), high=value + half)


def _refusal(asked: NDArray, alpha: float) -> str:
    items = asked.size // 2
    if items == 0:
        return "no item was asked of both models"
    enough = (
        f"{units_to_reach(alpha)} evaluations of each model could tell single items, "
        f"{units_to_reach(alpha / items)} any one of {items:,}"
    )
    if asked.max() == 1:
        return f"one evaluation each: single items cannot be told from noise; {enough}"
    return f"{asked.min()} to {asked.max()} evaluations: no item can be told from noise; {enough}"

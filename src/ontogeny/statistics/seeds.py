"""How many seeds it takes to show a difference (STA-08)."""

import math

from scipy import stats

from ontogeny.statistics.arrangements import pairs_to_reach, units_to_reach
from ontogeny.vocabulary import Reading, Status, undefined

#: Up to this many pilot seeds their spread is taken at its upper bound of this level.
FEW_SEEDS, BOUND = 5, 0.8
#: No count of seeds beyond this is reported.
MOST_SEEDS = 100_000
#: Effects for which seeds are counted where nothing else is known.
SIZES = (2.0, 1.0, 0.5)
#: A spread below this share of the difference is none.
NO_SPREAD = 1e-9


def t_power(size: float, seeds: int, alpha: float = 0.05, *, paired: bool = False) -> float:
    """Chance that a two-sided t test shows a difference of `size` sds with so many seeds.

    Unpaired: `seeds` in each of two arms, `size` in sds between seeds of one arm. Paired: `seeds` pairs,
    `size` in sds of the differences.
    Known: size 0 -> alpha.
    """
    freedom = seeds - 1 if paired else 2 * (seeds - 1)
    shift = abs(size) * math.sqrt(seeds if paired else seeds / 2)
    limit = stats.t.ppf(1 - alpha / 2, freedom)
    return float(stats.nct.sf(limit, freedom, shift) + stats.nct.cdf(-limit, freedom, shift))


def seeds_needed(
    size: float, alpha: float = 0.05, power: float = 0.8, *, paired: bool = False, claims: int = 1
) -> int | None:
    """Fewest seeds (in each arm; or pairs) at which `t_power` reaches `power`; None above 100,000.

    alpha is divided by `claims`, the number of primary claims.
    Known: unpaired 2 -> 6, 1.5 -> 9, 1 -> 17, 0.8 -> 26, 0.5 -> 64; paired 5, 6, 10, 15, 34.
    Source: Colas et al. 1806.08295 (checked with statsmodels).
    """
    alpha = alpha / claims

    def enough(seeds: int) -> bool:
        return t_power(size, seeds, alpha, paired=paired) >= power

    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_SEEDS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def spread_bound(sd: float, seeds: int) -> float:
    """The sd of a pilot, at its upper 80 % χ² bound where it rests on at most 5 seeds.

    Known: 3 seeds -> 2.12 sd; 5 -> 1.56 sd; 6 -> the sd itself.
    """
    if not 2 <= seeds <= FEW_SEEDS:
        return sd
    return sd * math.sqrt((seeds - 1) / stats.chi2.ppf(1 - BOUND, seeds - 1))


def seeds_to_show(
    difference: float,
    sd: float,
    pilot: int,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    paired: bool = False,
    claims: int = 1,
) -> Reading:
    """Seeds that would show a difference, with the spread `sd` of `pilot` seeds (pairs); `n` is `pilot`.

    As many as the t test needs for its power, and the exact test to reach alpha at all.
    Status: `n-too-small` from fewer than 2 pilot seeds (the reason gives the counts for 2, 1 and 0.5 sds),
    `nonfinite`, `no-target` if the difference is 0, `over-budget` above 100,000 seeds.
    Misleads: the difference seen in a small pilot is too large on average, and the count from it too small.
    """
    noun = "pair(s)" if paired else "seed(s)"
    if pilot < 2:
        counts = [seeds_needed(size, alpha, power, paired=paired, claims=claims) for size in SIZES]
        sizes = ", ".join(f"{count} at {size:g}" for size, count in zip(SIZES, counts, strict=True))
        units = (
            "pairs needed by effect in sds of the differences" if paired else "needed an arm by effect in sds"
        )
        return undefined(Status.N_TOO_SMALL, f"{pilot} {noun} show no spread; {units}: {sizes}", n=pilot)
    if not (math.isfinite(difference) and math.isfinite(sd)):
        return undefined(Status.NONFINITE, f"a difference of {difference}, a spread of {sd}", n=pilot)
    if difference == 0:
        return undefined(Status.NO_TARGET, "no difference was seen", n=pilot)
    exact = (pairs_to_reach if paired else units_to_reach)(alpha / claims)
    bound = spread_bound(sd, pilot)
    if bound <= abs(difference) * NO_SPREAD:
        return Reading(float(exact), n=pilot)
    needed = seeds_needed(abs(difference) / bound, alpha, power, paired=paired, claims=claims)
    if needed is None:
        return undefined(Status.OVER_BUDGET, f"more than {MOST_SEEDS:,} {noun}", n=pilot)
    return Reading(float(max(needed, exact)), n=pilot)

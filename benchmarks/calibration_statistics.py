"""How often the statistics claim what is not there, and how often their intervals hold what is.

python benchmarks/calibration_statistics.py [--quick]      about four minutes on a free core

2,000 simulations a line (200 of the item audit). A bound is met if the 95 % Clopper-Pearson interval of the
share meets it. Lines without a bound are there for comparison.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import norm

from claims import Claim, conclude
from ontogeny.statistics.arrangements import Arrangements, label_arrangements, sign_arrangements
from ontogeny.statistics.confidence_sequence import (
    ConfidenceSequence,
    asymptotic_sequence,
    bernstein_sequence,
)
from ontogeny.statistics.equivalence import equivalence
from ontogeny.statistics.false_discovery import false_discovery
from ontogeny.statistics.intervals import t_interval
from ontogeny.statistics.item_changes import Answers, item_changes
from ontogeny.statistics.max_statistic import max_statistic
from ontogeny.statistics.repeated_measures import repeated_measures
from ontogeny.statistics.sequential_evaluation import sequential_evaluation
from ontogeny.statistics.two_level_bootstrap import two_level_bootstrap
from shares import share

SIMULATIONS, QUICK = 2000, 100
TESTS, LOOKS = 20, 2000
#: Draws of a simulated bootstrap; its 10,000 by default only smooth the limits.
DRAWS = 1000


def counted(trials: int, seed: int, one: Callable[[Generator], bool]) -> int:
    rng = np.random.default_rng(seed)
    return sum(bool(one(rng)) for _ in range(trials))


def family(trials: int) -> Iterator[Claim]:
    """The chance of one false claim among 20 tests that share half of their variance."""
    designs: list[tuple[str, Arrangements, bool]] = [
        ("5 + 5 runs", label_arrangements(np.repeat([0, 1], 5)), False),
        ("5 + 5 runs, step-down", label_arrangements(np.repeat([0, 1], 5)), True),
        ("8 + 8 runs (drawn)", label_arrangements(np.repeat([0, 1], 8)), False),
        ("8 pairs", sign_arrangements(8), False),
        ("8 pairs, step-down", sign_arrangements(8), True),
    ]
    for noise in ("normal", "t(2)"):
        for name, arrangements, step_down in designs:
            found = [smallest(arrangements, step_down, noise, seed) for seed in range(trials)]
            together, alone = np.array(found).T
            what = f"max statistic, {name}, {noise}"
            yield share(f"{what}: any false claim", int((together <= 0.05).sum()), trials, 4, 6)
            if not step_down:
                yield share("  the same, uncorrected", int((alone <= 0.05).sum()), trials)


def smallest(arrangements: Arrangements, step_down: bool, noise: str, seed: int) -> tuple[float, float]:
    """The smallest corrected and the smallest uncorrected p of tests in which there is nothing to find."""
    rng = np.random.default_rng([1, seed])
    runs = arrangements.each.shape[1]
    drawn = rng.normal if noise == "normal" else lambda size: rng.standard_t(2, size)
    values = drawn(size=(runs, 1)) + drawn(size=(runs, TESTS))
    if arrangements.signs:
        scaled = values / np.sqrt(np.square(values).sum(0))
        statistic = lambda signs: signs @ scaled
    else:
        scaled = values / values.std(0)
        statistic = lambda labels: (2.0 * labels - 1) @ scaled
    found = max_statistic(statistic, arrangements, step_down=step_down, batched=True)
    return min(float(p.value) for p in found.p), min(float(p.value) for p in found.alone)


def sequences(trials: int) -> Iterator[Claim]:
    """Whether limits miss the mean at any of 2,000 looks."""
    kinds: dict[str, tuple[Callable[..., ConfidenceSequence], Callable[[Generator], NDArray], float]] = {
        "asymptotic, normal": (asymptotic_sequence, lambda rng: rng.normal(size=(50, LOOKS)), 0.0),
        "asymptotic, uniform": (asymptotic_sequence, lambda rng: rng.uniform(size=(50, LOOKS)), 0.5),
        "Bernstein, half right": (bernstein_sequence, lambda rng: 1.0 * (rng.random((50, LOOKS)) < 0.5), 0.5),
        "Bernstein, 95 % right": (
            bernstein_sequence,
            lambda rng: 1.0 * (rng.random((50, LOOKS)) < 0.95),
            0.95,
        ),
        "Bernstein, graded": (bernstein_sequence, lambda rng: rng.beta(0.5, 1.5, (50, LOOKS)), 0.25),
        "Bernstein, all of 2,000 items": (
            lambda values: bernstein_sequence(values, population=LOOKS),
            lambda rng: rng.permuted(np.tile(np.arange(LOOKS) % 5 == 0, (50, 1)).astype(float), axis=1),
            0.2,
        ),
    }
    for name, (sequence, draw, mean) in kinds.items():
        rng = np.random.default_rng(2)
        missed = sum(misses(sequence(draw(rng)), mean) for _ in range(trials // 50))
        yield share(f"confidence sequence, {name}: ever missed", missed, trials, 0, 5)
    rng = np.random.default_rng(3)
    missed = sum(
        misses(asymptotic_sequence(rng.exponential(size=(50, LOOKS))), 1) for _ in range(trials // 50)
    )
    yield share("  asymptotic, exponential (skewed at 30 looks)", missed, trials)
    missed = sum(misses(fixed(rng.normal(size=(50, LOOKS))), 0) for _ in range(trials // 50))
    yield share("  an ordinary 95 % interval at every look from 30 on", missed, trials)


def misses(found: ConfidenceSequence, mean: float) -> int:
    return int(((found.low > mean + 1e-9) | (found.high < mean - 1e-9)).any(-1).sum())


def fixed(values: NDArray) -> ConfidenceSequence:
    t = np.arange(1, LOOKS + 1)
    mean = np.cumsum(values, -1) / t
    half = 1.96 * np.sqrt(np.cumsum(values**2, -1) / t - mean**2) / np.sqrt(t)
    half[..., :29] = np.inf
    return ConfidenceSequence(mean, mean - half, mean + half)


def asking(trials: int) -> Iterator[Claim]:
    """Evaluations of 2,000 items that stop at a width of 0.06."""
    for right in (0.5, 0.8, 0.95):
        missed, asked = 0, []
        for seed in range(trials):
            scores = (np.random.default_rng([4, seed]).random(LOOKS) < right).astype(float)
            found = sequential_evaluation(
                lambda i, s=scores: s[np.array(i)], range(LOOKS), 0.06, batch=20, seed=seed
            )
            missed += not found.score.low <= scores.mean() <= found.score.high
            asked.append(found.score.n)
        note = f"; {np.mean(asked):.0f} of {LOOKS:,} asked on average"
        yield share(f"sequential evaluation, {right:.0%} right: missed", missed, trials, 0, 5, note)


def two_levels(trials: int) -> Iterator[Claim]:
    """Coverage over runs (sd 1) of 20 documents each (sd 2)."""
    for runs, expected in ((5, (86, 90)), (8, (88, 92)), (30, (93, 97))):
        hits = counted(trials, runs, lambda rng, r=runs: covers(rng, r, "percentile"))
        yield share(f"two-level percentiles, {runs} runs: covered", hits, trials, *expected)
    for runs in (5, 8, 12, 15, 20, 30):
        hits = counted(trials, runs, lambda rng, r=runs: covers(rng, r, None))
        bounds = (93, 97) if runs < 10 or runs >= 30 else (0, 100)
        yield share(f"two-level interval as by default, {runs} runs: covered", hits, trials, *bounds)
    for runs in (12, 15):
        hits = counted(trials, runs, lambda rng, r=runs: covers(rng, r, "t"))
        yield share(f"  Student's at {runs} runs", hits, trials)


def covers(rng: Generator, runs: int, method) -> bool:
    values = rng.normal(size=(runs, 1)) + 2 * rng.normal(size=(runs, 20))
    seed = int(rng.integers(1 << 30))
    found = two_level_bootstrap(values, method=method, draws=DRAWS, seed=seed).estimate
    return found.low <= 0 <= found.high


def student(trials: int) -> Iterator[Claim]:
    for runs in (2, 3, 5):
        hits = counted(trials, runs, lambda rng, r=runs: holds(t_interval(rng.normal(size=r)), 0))
        yield share(f"t interval, {runs} runs: covered", hits, trials, 93, 97)


def holds(found, truth: float) -> bool:
    return found.low <= truth <= found.high


def equal(trials: int) -> Iterator[Claim]:
    """Two arms that differ by exactly the margin: equivalence must be claimed in at most 5 %."""
    for runs, paired in ((10, False), (30, False), (30, True)):
        at, none = (
            counted(trials, runs, lambda rng, r=runs, p=paired, d=shift: same(rng, r, d, 1.0, p))
            for shift in (1.0, 0.0)
        )
        name = f"TOST, {runs} {'pairs' if paired else 'an arm'}"
        yield share(f"{name}, at the margin of 1 sd: claimed", at, trials, 0, 5)
        yield share("  no difference: claimed", none, trials)
    for runs in (10, 30, 100):
        hits = counted(trials, runs, lambda rng, r=runs: same(rng, r, 0.5, None, False))
        yield share(f"  default margin, {runs} an arm, at half a sd: claimed", hits, trials)


def same(rng: Generator, runs: int, shift: float, margin: float | None, paired: bool) -> bool:
    control, treatment = rng.normal(size=(2, runs))
    return equivalence(control, treatment + shift, margin=margin, paired=paired).equivalent


def spherical(trials: int) -> Iterator[Claim]:
    """No difference between 8 checkpoints of 10 runs, with a memory of 0.9 from one to the next."""
    covariance = 0.9 ** np.abs(np.subtract.outer(range(8), range(8)))
    rng = np.random.default_rng(5)
    made = [repeated_measures(rng.multivariate_normal(np.zeros(8), covariance, 10)) for _ in range(trials)]
    corrected = sum(one.p.value <= 0.05 for one in made)
    plain = sum(one.p_spherical.value <= 0.05 for one in made)
    yield share("repeated measures, AR(0.9), Greenhouse-Geisser: claimed", corrected, trials, 0, 5)
    yield share("  the same, uncorrected", plain, trials)


def items(trials: int) -> Iterator[Claim]:
    """2,000 items, 6 evaluations each; 5 % truly gained, 3 % truly lost, a fifth flickers throughout."""
    true, shares, ratios, found_true = np.arange(2000) < 160, [], [], []
    rounds = max(trials // 10, 10)
    for seed in range(rounds):
        rng = np.random.default_rng([7, seed])
        before = rng.choice([0.0, 1.0, 0.5], 2000, p=[0.4, 0.4, 0.2])
        after = before.copy()
        before[:100], after[:100], before[100:160], after[100:160] = 0.02, 0.98, 0.98, 0.02
        one, other = (rng.random((2000, 6)) < chance[:, None] for chance in (before, after))
        asked = np.full(2000, 6)
        found = item_changes(Answers(one.sum(1), asked), Answers(other.sum(1), asked))
        claimed = found.gained | found.lost
        shares.append((claimed & ~true).sum() / max(1, claimed.sum()))
        found_true.append(claimed[true].mean())
        listed = ~one[:, 0] & other[:, 0]
        ratios.append(((listed & ~true).sum(), listed.sum(), float(found.by_chance.value)))
    error = 196 * float(np.std(shares)) / rounds**0.5
    seen = 100 * float(np.mean(shares))
    note = f"{seen:5.1f} % ± {error:.1f}, allowed at most 5; {np.mean(found_true):.0%} of the true found"
    yield Claim("item audit: false among the claims", max(0.0, seen - error - 5), "% beyond", 0.0, note)
    false, listed, expected = np.mean(ratios, axis=0)
    note = f"{false:.0f} of {listed:.0f} listed; {expected:.0f} said to be by chance"
    yield Claim("  a plain list of gains: false among them", float(100 * false / listed), "%", note=note)


def discoveries(trials: int) -> Iterator[Claim]:
    """The mean share of false claims among the claims at q ≤ 0.05: 80 of 100 tests have nothing to find."""
    for method in ("bh", "by"):
        rng, false = np.random.default_rng(6), np.empty(trials)
        for trial in range(trials):
            z = rng.normal(size=100) + np.r_[np.zeros(80), np.full(20, 3.0)]
            claimed = false_discovery(2 * norm.sf(np.abs(z)), method=method).q <= 0.05
            false[trial] = claimed[:80].sum() / max(1, claimed.sum())
        error = 196 * false.std() / trials**0.5
        beyond = max(0.0, 100 * false.mean() - error - 5)
        note = f"{100 * false.mean():5.1f} % ± {error:.1f}, allowed at most 5"
        yield Claim(f"{method.upper()} at q ≤ 0.05: false among the claims", beyond, "% beyond", 0.0, note)


PARTS = (family, sequences, asking, two_levels, student, equal, spherical, items, discoveries)


def measure(quick: bool) -> list[Claim]:
    trials = QUICK if quick else SIMULATIONS
    return [claim for part in PARTS for claim in part(trials)]


if __name__ == "__main__":
    # By keyword: `python -m benchmarks` knows its own, which are of speed, by how they call this.
    conclude(doc=__doc__, measure=measure)

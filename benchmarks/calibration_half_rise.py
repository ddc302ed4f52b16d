"""How often `half_rise` claims what is not there, finds what is, and covers the step it names.

Run it: `python benchmarks/calibration_half_rise.py [trials]`; with the default it takes under two minutes.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
import scipy.signal
import scipy.special
from numpy.random import Generator
from numpy.typing import NDArray

from ontogeny.detectors.half_rise import half_rise
from ontogeny.statistics.crossing import log_position
from ontogeny.vocabulary import Located, Verdict

STEPS = np.array([0, *(1 << k for k in range(10)), *range(550, 2001, 50)])
POSITIONS = log_position(STEPS)
NULL_DRAWS, PLACES = 199, 20


def autoregressive(rng: Generator, shape: tuple[int, ...], phi: float = 0.7) -> NDArray:
    shocks = rng.normal(size=(*shape, STEPS.size + 50)) * np.sqrt(1 - phi**2)
    return scipy.signal.lfilter([1], [1, -phi], shocks)[..., 50:]


def between(rng: Generator, low: float, high: float, shape: tuple[int, ...] = ()) -> NDArray:
    """Log-uniform draws, with an axis for the checkpoints."""
    return np.exp(rng.uniform(np.log(low), np.log(high), size=(*shape, 1)))


def noisy(curve: Callable[[Generator, tuple[int, ...]], NDArray], sd: float) -> Callable[..., NDArray]:
    return lambda rng, shape: curve(rng, shape) + sd * rng.normal(size=(*shape, STEPS.size))


def power_law(rng: Generator, shape: tuple[int, ...]) -> NDArray:
    return -((STEPS + 1.0) ** -rng.uniform(0.2, 1, size=(*shape, 1)))


def exponential(rng: Generator, shape: tuple[int, ...]) -> NDArray:
    return -np.exp(-STEPS / between(rng, 3, 2000, shape))


#: Series in which nothing forms, as (generator, shape) -> [*shape, checkpoint]. Decays are turned upwards,
#: because a null speaks of rises only.
NOTHING_FORMS: dict[str, Callable[[Generator, tuple[int, ...]], NDArray]] = {
    "white noise": lambda rng, shape: rng.normal(size=(*shape, STEPS.size)),
    "AR(0.7)": autoregressive,
    "heavy tails, t(2)": lambda rng, shape: rng.standard_t(2, size=(*shape, STEPS.size)),
    "random walk": lambda rng, shape: rng.normal(size=(*shape, STEPS.size)).cumsum(-1),
    "power law, noise 0.01": noisy(power_law, 0.01),
    "power law, noise 0.1": noisy(power_law, 0.1),
    "exponential, noise 0.01": noisy(exponential, 0.01),
    "exponential, noise 0.1": noisy(exponential, 0.1),
    "drift in ln step, noise 0.1": noisy(
        lambda _, shape: np.broadcast_to(POSITIONS / POSITIONS[-1], (*shape, STEPS.size)), 0.1
    ),
    "drift in step, noise 0.1": noisy(
        lambda _, shape: np.broadcast_to(STEPS / STEPS[-1], (*shape, STEPS.size)), 0.1
    ),
}

NOISE: dict[str, Callable[[Generator, tuple[int, ...]], NDArray]] = {
    name: NOTHING_FORMS[name] for name in ("white noise", "AR(0.7)")
} | {"heavy tails, t(3)": lambda rng, shape: rng.standard_t(3, size=(*shape, STEPS.size))}


def sigmoid(centre: float, factor: float) -> NDArray:
    """0 to 1 in ln step, half at `centre`, 10 % to 90 % within a factor of `factor` in steps; 1 is a jump."""
    if factor == 1:
        return (centre < STEPS).astype(np.float64)
    return scipy.special.expit((POSITIONS - np.log(centre)) * np.log(81) / np.log(factor))


def powerless_null(rng: Generator) -> NDArray:
    """A null that any size is beyond: only the noise and the shape are left to protect."""
    return 1e-9 * rng.normal(size=(NULL_DRAWS, 1, STEPS.size))


def false_claim(name: str, rng: Generator, *, powerless: bool) -> Located:
    """One series without a transition: one place, or the best of many and a null that chose as well."""
    process = NOTHING_FORMS[name]
    if powerless:
        return half_rise(STEPS, process(rng, ()), powerless_null(rng), draws=1)
    places = process(rng, (PLACES,))
    best = np.argmax(np.median(places[:, -8:], axis=1) - np.median(places[:, :5], axis=1))
    return half_rise(STEPS, places[best], process(rng, (NULL_DRAWS, PLACES)), draws=1)


def found(
    rng: Generator,
    size: float,
    factor: float,
    noise: str = "white noise",
    centres: tuple[float, float] = (30, 1000),
) -> tuple[Located, float]:
    """One sigmoid of `size` noise sds somewhere between `centres`, and where its half was."""
    centre = float(between(rng, *centres)[0])
    series = size * sigmoid(centre, factor) + NOISE[noise](rng, ())
    return half_rise(STEPS, series, powerless_null(rng), draws=200), centre


def covers(one: Located, centre: float) -> bool:
    """Whether the interval holds the true half; a series that is given none does not."""
    return one.low is not None and one.high is not None and one.low <= centre <= one.high


def verdicts(located: list[Located]) -> str:
    counts = Counter(one.verdict for one in located)
    return " ".join(f"{100 * counts[verdict] / len(located):>12.1f}" for verdict in Verdict)


def print_false_claims(trials: int) -> None:
    print(
        f"{'nothing forms; % of ' + str(trials):<30}{'null':<12}" + " ".join(f"{v:>12}" for v in Verdict),
        "     p≤.01",
    )
    for name in NOTHING_FORMS:
        for powerless in (False, True):
            rng = np.random.default_rng([31, powerless])
            all_of = [false_claim(name, rng, powerless=powerless) for _ in range(trials)]
            beyond = 100 * np.mean([one.p is not None and one.p <= 0.01 for one in all_of])
            print(f"{name:<30}{'powerless' if powerless else 'same':<12}{verdicts(all_of)} {beyond:>10.1f}")


def print_power(trials: int) -> None:
    print(
        f"\n{'sigmoid; % of ' + str(trials):<30}{'sds factor':<12}" + " ".join(f"{v:>12}" for v in Verdict),
        end="",
    )
    print("    covered  (of claims)  median high/low")
    for noise in NOISE:
        for centres in ((30, 500), (550, 1000)):
            for size, factor in ((8, 1), (8, 2), (8, 4), (20, 1), (20, 2), (20, 4), (20, 8)):
                if factor > 2 and centres[0] > 500:
                    continue  # not finished within the series: its half is not what the series shows
                rng = np.random.default_rng([32, size, factor])
                pairs = [found(rng, size, factor, noise, centres) for _ in range(trials)]
                inside = [covers(one, centre) for one, centre in pairs]
                claims = [one.verdict is Verdict.TRANSITION for one, _ in pairs]
                claimed = 100 * np.mean(inside, where=claims) if any(claims) else np.nan
                ratio = np.median([one.high / max(one.low, 0.5) for one, _ in pairs if one.low is not None])
                print(
                    f"{noise + f', step {centres[0]}-{centres[1]}':<30}{size:>3} {factor:<8}"
                    f"{verdicts([one for one, _ in pairs])} {100 * np.mean(inside):>10.1f}"
                    f" {claimed:>12.1f} {ratio:>16.2f}"
                )


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    begun = time.perf_counter()
    print_false_claims(2 * count)
    print_power(count)
    print(f"\n{time.perf_counter() - begun:.0f} s")

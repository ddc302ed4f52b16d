"""Limits of confseq's empirical Bernstein sequences; tests/statistics/test_confidence_sequence.py compares.

confseq is built from source and needs Boost's headers; its Python alone is enough here. In an environment of
its own, with github.com/gostevehoward/confseq at 70b1ef30 (MIT):

    pip install numpy scipy matplotlib multiprocess
    PYTHONPATH=confseq/src python tests/oracles/confseq_sequences.py > tests/oracles/confseq_sequences.json
"""

import json
import sys

import numpy as np

np.float_ = np.float64  # confseq was written for numpy 1

from confseq.betting_strategies import lambda_predmix_eb  # noqa: E402
from confseq.predmix import predmix_lower_cs  # noqa: E402


def lower(values: np.ndarray, alpha: float, population: int | None) -> np.ndarray:
    """Its lower sequence, with the paper's variance increments (its own start from a mean of 0, not ½)."""
    t = np.arange(1, len(values) + 1)
    mean = (0.5 + np.cumsum(values)) / (t + 1)
    before = np.append(0.5, mean[:-1])
    return predmix_lower_cs(
        values,
        v=np.square(values - before),
        lambdas_fn=lambda x: lambda_predmix_eb(x, truncation=0.5, alpha=alpha),
        psi_fn=lambda bets: -np.log(1 - bets) - bets,
        alpha=alpha,
        N=population,
    )


def sequence(seed: int, looks: int, power: float, population: int | None) -> dict:
    values = np.random.RandomState(seed).uniform(size=looks) ** power
    return {
        "values": values.tolist(),
        "population": population,
        "low": lower(values, 0.025, population).tolist(),
        "high": (1 - lower(1 - values, 0.025, population)).tolist(),
    }


def main() -> None:
    made = [sequence(0, 200, 1.0, None), sequence(1, 150, 4.0, None), sequence(2, 120, 0.3, 150)]
    json.dump({"alpha": 0.05, "sequences": made}, sys.stdout)


if __name__ == "__main__":
    main()

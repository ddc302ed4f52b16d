"""What WeightWatcher 0.7.7 finds in heavy tails; `tests/numerics/test_power_laws.py` holds ours against it.

In an environment of its own:

    pip install weightwatcher==0.7.7 torch
    python tests/oracles/weightwatcher_alpha.py > tests/oracles/weightwatcher_alpha.json

`eigenvalues` go to its fit as they are. `layers` are analysed as Linear layers of a model, which drops
eigenvalues below 1e-5. Its fit for fewer than 20 eigenvalues takes the least distance, whatever its own
objective chose, so of those only exponents by the corrected estimator can be held against ours.
"""

import json
import sys

import numpy as np
import torch
import weightwatcher
from weightwatcher.WW_powerlaw import WWFit


def student(seed: int, *shape: int) -> np.ndarray:
    return np.random.RandomState(seed).standard_t(2, size=shape)


def pareto(seed: int, count: int, alpha: float) -> np.ndarray:
    return (1 - np.random.RandomState(seed).random_sample(count)) ** (-1 / (alpha - 1))


def fitted(eigenvalues: np.ndarray) -> dict[str, float]:
    fit = WWFit(eigenvalues)
    found = {"alpha": fit.alpha, "sigma": fit.sigma, "distance": fit.D, "start": fit.xmin}
    return {name: float(number) for name, number in found.items()} | {"size": len(fit.data)}


def analysed(weight: np.ndarray) -> dict[str, float]:
    layer = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    layer.weight.data = torch.from_numpy(weight).float()
    details = weightwatcher.WeightWatcher(model=torch.nn.Sequential(layer)).analyze()
    columns = {"alpha": "alpha", "distance": "D", "sigma": "sigma", "start": "xmin"}
    columns |= {"alpha_hat": "alpha_weighted", "size": "num_pl_spikes"}
    return {name: float(details.iloc[0][column]) for name, column in columns.items()}


def main() -> None:
    said = sys.stdout
    sys.stdout = sys.stderr  # it prints while it fits
    found = {
        "eigenvalues": {
            **{f"pareto {seed} 2000 3.0": fitted(pareto(seed, 2000, 3.0)) for seed in range(4)},
            **{f"pareto {seed} 60 2.0": fitted(pareto(seed, 60, 2.0)) for seed in range(4)},
        },
        "layers": {
            **{f"student {seed} 512 512": analysed(student(seed, 512, 512)) for seed in range(4)},
            **{f"student {seed} 96 300": analysed(student(seed, 96, 300)) for seed in range(2)},
        },
    }
    json.dump(found, said, indent=1)


if __name__ == "__main__":
    main()

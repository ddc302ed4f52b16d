"""A Gaussian hidden-Markov detector on the series of `calibration.py` in which nothing forms.

It needs hmmlearn, which no part of this project depends on: run it in an environment that has it.

python benchmarks/calibration_peers.py [series a cell]
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from hmmlearn.hmm import GaussianHMM
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent))

from processes import DRIFTING, EVEN, STILL, in_ln_step, noisy, step

#: Numbers of states that are tried.
STATES = range(1, 9)


def states_found(values: NDArray, seed: int) -> int:
    """States the path of the model with the smallest BIC visits; a change is where it leaves one."""
    data = ((values - values.mean()) / values.std())[:, None]
    best, found = np.inf, 1
    for count in STATES:
        model = GaussianHMM(count, covariance_type="diag", n_iter=50, random_state=seed)
        try:
            model.fit(data)
            score = model.bic(data)
        except ValueError:
            continue  # a state without a point has no variance
        if score < best:
            best, found = score, len(set(model.predict(data).tolist()))
    return found


def main(trials: int) -> None:
    drift = {"drift in ln step, .01": noisy(in_ln_step, 0.01)}
    change = {"step of 4 sds": lambda rng, steps: step(rng, steps, 4).values}
    cells = STILL | DRIFTING | drift | change
    print(f"{'hidden Markov model; of ' + str(trials):<30}{'alarms %':>9}{'median states':>15}")
    for cell, process in cells.items():
        rng = np.random.default_rng([72, sum(cell.encode())])
        found = [states_found(process(rng, EVEN), seed) for seed in range(trials)]
        print(f"{cell:<30}{100 * np.mean(np.array(found) > 1):>9.1f}{np.median(found):>15.0f}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)

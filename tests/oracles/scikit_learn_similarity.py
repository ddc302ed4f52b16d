"""What scikit-learn and scipy find where they compute the same; tests of `numerics` hold ours against it.

In an environment of its own (versions are in the output):

    pip install scikit-learn scipy
    python tests/oracles/scikit_learn_similarity.py > tests/oracles/scikit_learn_similarity.json
"""

import json
import sys

import numpy as np
import scipy
import sklearn
from scipy.linalg import subspace_angles
from scipy.spatial import procrustes
from scipy.stats import entropy
from sklearn.cross_decomposition import CCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import linear_kernel
from sklearn.preprocessing import KernelCenterer


def views(seed: int, items: int, width: int, other: int, shared: int) -> tuple[np.ndarray, np.ndarray]:
    """Two views of the same items that have some features in common, the later ones weaker."""
    rng = np.random.RandomState(seed)
    here, there = rng.standard_normal((items, width)), rng.standard_normal((items, other))
    there[:, :shared] += here[:, :shared] * np.linspace(3, 0.2, shared)
    return here, there


def biased_cka(here: np.ndarray, there: np.ndarray) -> float:
    k, ell = (KernelCenterer().fit_transform(linear_kernel(side)) for side in (here, there))
    return float((k * ell).sum() / np.sqrt((k * k).sum() * (ell * ell).sum()))


def canonical(here: np.ndarray, there: np.ndarray) -> list[float]:
    x, y = (side - side.mean(0) for side in (here, there))
    return sorted(np.cos(subspace_angles(x, y)).tolist(), reverse=True)


def first_correlation(here: np.ndarray, there: np.ndarray) -> float:
    x, y = CCA(n_components=1, max_iter=5000, tol=1e-12).fit_transform(here, there)
    return float(np.corrcoef(x[:, 0], y[:, 0])[0, 1])


def procrustes_distance(here: np.ndarray, there: np.ndarray) -> float:
    """scipy's disparity is 1 − ‖XᵀY‖_*², the scale being chosen as well."""
    return float(2 - 2 * np.sqrt(1 - procrustes(here, there)[2]))


def compared(*shape: int) -> dict:
    here, there = views(*shape)
    found = {"biased_cka": biased_cka(here, there), "canonical": canonical(here, there)}
    found["first_correlation"] = first_correlation(here, there)
    if here.shape == there.shape:
        found["procrustes"] = procrustes_distance(here, there)
    return found


def spectrum(seed: int) -> dict[str, float]:
    """Of the centred covariance of a seeded matrix: slope over ranks 11 … 100, R², entropy rank."""
    data = np.random.RandomState(seed).standard_normal((600, 150)) * np.arange(1, 151) ** -0.6
    eigenvalues = np.linalg.eigvalsh(np.cov(data.T))[::-1]
    ranks = np.arange(11, 101)
    x, y = -np.log(ranks)[:, None], np.log(eigenvalues[10:100])
    line = LinearRegression().fit(x, y, sample_weight=1 / ranks)
    rank = float(np.exp(entropy(np.linalg.svd(data, compute_uv=False))))
    return {"slope": float(line.coef_[0]), "r_squared": r2_score(y, line.predict(x)), "entropy_rank": rank}


def main() -> None:
    shapes = [(0, 400, 12, 12, 5), (1, 300, 20, 8, 4), (2, 640, 32, 32, 32)]
    found = {
        "versions": {"scikit-learn": sklearn.__version__, "scipy": scipy.__version__},
        "views": {" ".join(map(str, shape)): compared(*shape) for shape in shapes},
        "spectra": {str(seed): spectrum(seed) for seed in range(2)},
    }
    json.dump(found, sys.stdout, indent=1)


if __name__ == "__main__":
    main()

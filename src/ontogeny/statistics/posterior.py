"""Which of many curves a series follows, and what that says of where it changed."""

import numpy as np
from numpy.typing import NDArray


def shape_weights(curves: NDArray, nuisance: NDArray, values: NDArray, phi: float) -> tuple[NDArray, NDArray]:
    """Weights [curve], adding up to 1, and sizes [curve] of curves [curve, point] in values [point].

    values = nuisance [term, point] combined + size · curve + normal AR(1) noise of memory φ and unknown
    scale, no combination, size or curve favoured: a curve weighs RSS^(−(n − k − 1)/2) / √|X'X|, with X freed
    of the memory and k nuisance terms. A curve the nuisance terms already make weighs nothing.
    Known: values that are one of the curves -> weight 1 there.
    """
    basis, _ = np.linalg.qr(whitened(nuisance, phi).T)
    data, design = whitened(values, phi), whitened(curves, phi)
    data = data - basis @ (basis.T @ data)
    before = np.square(design).sum(axis=1)
    design = design - (design @ basis) @ basis.T
    power = np.square(design).sum(axis=1)
    own = power > 1e-9 * before
    shares = design @ data
    sizes = np.divide(shares, power, out=np.zeros_like(power), where=own)
    whole = data @ data
    left = np.maximum(whole - shares * sizes, 1e-12 * whole + np.finfo(np.float64).tiny)
    free = max(values.size - nuisance.shape[0] - 1, 1)
    score = np.where(own, -free / 2 * np.log(left) - np.log(np.where(own, power, 1.0)) / 2, -np.inf)
    weights = np.exp(score - score.max()) if own.any() else np.ones_like(score)
    return weights / weights.sum(), sizes


def weighted_interval(positions: NDArray, weights: NDArray, level: float) -> tuple[float, float, float]:
    """Median, low and high of positions [curve] under weights [curve]: the central `level` between them."""
    order = np.argsort(positions, kind="stable")
    weights = weights[order] / weights.sum()
    middles = np.cumsum(weights) - weights / 2
    shares = [0.5, (1 - level) / 2, (1 + level) / 2]
    middle, low, high = np.interp(shares, middles, positions[order])
    return float(middle), float(low), float(high)


def whitened(series: NDArray, phi: float) -> NDArray:
    """Series [..., point] freed of a lag-one memory φ."""
    freed = np.array(series, dtype=np.float64)
    freed[..., 1:] -= phi * np.asarray(series)[..., :-1]
    freed[..., 0] *= np.sqrt(1 - phi**2)
    return freed

"""Randomness that belongs to the data: the same series draws the same numbers, another draws others."""

import numpy as np
import xxhash
from numpy.typing import NDArray


def generator_for(*arrays: NDArray, seed: int = 0) -> np.random.Generator:
    """A generator seeded from the arrays' bits (as float64) and `seed`."""
    state = xxhash.xxh3_64()
    for array in arrays:
        state.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return np.random.default_rng([seed, state.intdigest()])

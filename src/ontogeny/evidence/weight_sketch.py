"""A point in weight space, short enough to keep those of many checkpoints."""

from collections.abc import Mapping

from torch import Tensor

from ontogeny.evidence.kinds import derived
from ontogeny.numerics.count_sketch import count_sketch


@derived("weight_sketch", at="matrix")
def of_matrix(weights: Mapping[str, Tensor]) -> Tensor:
    """The matrix itself if it has at most 4,096 elements, a CountSketch of that length otherwise."""
    return count_sketch(weights)


@derived("weight_sketch", at="model")
def of_all(weights: Mapping[str, Tensor]) -> Tensor:
    """Of all parameters together."""
    return count_sketch(weights)

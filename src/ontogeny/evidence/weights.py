"""Weights by name: one matrix, or every parameter of the model."""

from collections.abc import Mapping

from torch import Tensor

from ontogeny.evidence.kinds import derived


@derived("weights", at="matrix")
def of_matrix(weight: Tensor) -> Mapping[str, Tensor]:
    """The one matrix, without a name."""
    return {"": weight}


@derived("weights", at="model")
def of_all(parameters: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Every parameter, tied ones once; vectors too."""
    return parameters

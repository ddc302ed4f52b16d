"""How few entries of each vector carry it, at the tokens of the fixed samples; by what is looked at."""

from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor

from ontogeny.evidence.kinds import derived
from ontogeny.numerics.spectral_shape import inverse_participations


class Participations(NamedTuple):
    """Inverse participation ratio of every vector that is not zero [item], of `tokens` vectors."""

    values: Tensor
    tokens: int


@derived("participations", at="residual")
def of_residual(residual_sample: Tensor) -> Mapping[str, Participations]:
    """Of the stream ("")."""
    return {"": participations_of(residual_sample)}


@derived("participations", at="mlp_activation")
def of_neurons(neuron_sample: Tensor, preactivation_sample: Tensor) -> Mapping[str, Participations]:
    """Of an MLP's neurons before and after the non-linearity."""
    return {
        "preactivation": participations_of(preactivation_sample),
        "activation": participations_of(neuron_sample),
    }


def participations_of(sample: Tensor) -> Participations:
    """Of [item feature]."""
    return Participations(inverse_participations(sample[sample.any(-1)]), len(sample))

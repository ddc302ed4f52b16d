"""Variances along principal directions, by what they are of: a stream, an MLP's neurons before and after."""

from collections.abc import Mapping

from torch import Tensor

from ontogeny.evidence.covariance_eigenvalues import Variances
from ontogeny.evidence.kinds import derived
from ontogeny.evidence.residual_gram import ROUNDING
from ontogeny.numerics.spectra import eigenvalues_of_gram
from ontogeny.vocabulary import Reading, Status, undefined


@derived("variance_spectra", at="residual")
def of_residual(covariance_eigenvalues: Variances) -> Mapping[str, Variances | Reading]:
    """Of the stream ("")."""
    return {"": covariance_eigenvalues}


@derived("variance_spectra", at="mlp_activation")
def of_neurons(neuron_sample: Tensor, preactivation_sample: Tensor) -> Mapping[str, Variances | Reading]:
    """Of an MLP's neurons before and after the non-linearity, at the tokens of their sample."""
    return {"preactivation": variances_of(preactivation_sample), "activation": variances_of(neuron_sample)}


def variances_of(sample: Tensor) -> Variances | Reading:
    """Eigenvalues of the centred covariance, divisor n − 1, of [item feature]; at least as many items as
    features are needed, else `n-too-small`."""
    n, width = sample.shape
    if n < max(width, 2):
        reason = f"{n} tokens of {width} features; at least {max(width, 2)} are needed"
        return undefined(Status.N_TOO_SMALL, reason, n=n)
    values = sample.double()
    squares = values.square().sum(0)
    values = values - values.mean(0)
    spread = values.square().sum(0)
    if bool((spread <= ROUNDING * squares).all()):
        return undefined(Status.CONSTANT_INPUT, "all vectors are equal", n=n)
    return Variances(eigenvalues_of_gram(values.mT @ values / (n - 1)), n)

"""First and second moments of the spectra of heads: of what they hand on, and of their two circuits."""

from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor

from ontogeny.evidence.head_gram import HeadGram
from ontogeny.evidence.kinds import derived
from ontogeny.numerics.head_circuits import product_moments
from ontogeny.vocabulary import Reading, Status, undefined


class Moments(NamedTuple):
    """Σλ and Σλ² ([head], or of one head), Σ of squares that were not centred, and how many vectors of how
    many channels they rest on (n is None for weights)."""

    first: Tensor
    second: Tensor
    energy: Tensor
    channels: int
    n: int | None


@derived("head_moments", at="head_output")
def of_outputs(head_gram: HeadGram) -> Mapping[str, Moments] | Reading:
    """Of the eigenvalues of each head's centred covariance, the part's own ("")."""
    if head_gram.n < 2:
        return undefined(Status.N_TOO_SMALL, f"{head_gram.n} vectors have no covariance", n=head_gram.n)
    covariance = head_gram.covariance()
    first = covariance.diagonal(dim1=1, dim2=2).sum(1)
    energy = head_gram.outer.diagonal(dim1=1, dim2=2).sum(1)
    second = covariance.square().sum((1, 2))
    return {"": Moments(first, second, energy, head_gram.total.shape[1], head_gram.n)}


@derived("head_moments", at="head")
def of_weights(
    head_query: Tensor, head_key: Tensor, head_value: Tensor, head_output_weight: Tensor
) -> Mapping[str, Moments]:
    """Of σ² of W_Q W_Kᵀ ("query_key") and of W_V W_O ("value_output")."""
    channels = len(head_query)
    pairs = {
        "query_key": product_moments(head_query, head_key),
        "value_output": product_moments(head_value, head_output_weight.mT),
    }
    return {name: Moments(first, second, first, channels, None) for name, (first, second) in pairs.items()}

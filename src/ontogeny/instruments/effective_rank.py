"""SPE-01."""

from torch import Tensor

from ontogeny.catalogue import instrument
from ontogeny.numerics.spectra import entropy_rank
from ontogeny.vocabulary import Reading


@instrument(unit="dimensions", source="Roy & Vetterli 2007, EUSIPCO (recalled)", family="spectra")
def effective_rank(singular_values: Tensor, *, ev: bool = False) -> Reading:
    """How many directions a matrix, or a layer's features, spread over.

    exp(H(p)), p = singular values over their sum, H in nats, 0·log 0 = 0; not centred. For a residual
    stream the singular values are those of the matrix of all its vectors but position 0's. `ev=True` takes
    their squares, another scale: never in one plot with the plain form.

    Known: the identity of d -> d; rank one -> 1; a square Gaussian -> 0.80 n (0.60 n with `ev`).
    Misleads: a large mean pulls a stream's value towards 1; random matrices are not at full rank.
    """
    return entropy_rank(singular_values.square() if ev else singular_values)

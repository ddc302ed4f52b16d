"""SPE-01."""

from torch import Tensor

from ontogeny.catalogue import instrument
from ontogeny.numerics.spectra import entropy_rank
from ontogeny.vocabulary import Reading


@instrument(unit="dimensions", source="Roy & Vetterli 2007, EUSIPCO (recalled)")
def effective_rank(singular_values: Tensor) -> Reading:
    """How many directions a matrix, or a layer's features, spread over.

    exp(H(p)), p = singular values over their sum, H in nats, 0·log 0 = 0; not centred. For a residual
    stream the singular values are those of the matrix of all its vectors but position 0's.

    Known: the identity of d -> d; rank one -> 1; a square Gaussian -> 0.80 n.
    Misleads: a large mean pulls a stream's value towards 1; random matrices are not at full rank.
    """
    return entropy_rank(singular_values)

"""SPE-02."""

from torch import Tensor

from ontogeny.catalogue import instrument
from ontogeny.numerics.spectra import stable_rank_of
from ontogeny.vocabulary import Reading


@instrument(
    unit="dimensions",
    source="Rudelson & Vershynin 2007; Martin & Mahoney 1810.01075 (recalled)",
    family="spectra",
)
def stable_rank(singular_values: Tensor) -> Reading:
    """How many directions as strong as the strongest one would carry the same energy.

    ‖A‖_F² / ‖A‖₂² = Σσ² / max σ², between 1 and the rank; unchanged by scale.

    Known: an orthogonal d × d -> d; a square Gaussian -> n / 4.
    Misleads: one outlier direction hides everything else.
    """
    return stable_rank_of(singular_values)

"""TRA-01."""

from ontogeny.catalogue import comparison
from ontogeny.numerics.distance import distance_of_weights
from ontogeny.vocabulary import Pair, Reading


@comparison(
    unit="weight",
    source="Hoffer et al. 1705.08741 (recalled)",
    family="trajectory",
    reference="first",
    stimuli=(),
    version=2,
)
def distance_from_start(weights: Pair) -> dict[str, Reading]:
    """How far the weights have moved from the first checkpoint.

    ‖θ_t − θ_0‖, one number a matrix (Frobenius) and one for all parameters together, vectors too, at the
    place "whole model"; `relative` is that over ‖θ_0‖.

    Known: no training -> 0; steps of a random walk -> grows as t^0.5 (`statistics.growth` fits the power).
    Misleads: weight decay moves weights without anything being learned; the first checkpoint that was kept
    need not be step 0.
    """
    return distance_of_weights(weights.here, weights.there)

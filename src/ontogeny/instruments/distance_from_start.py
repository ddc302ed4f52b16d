"""TRA-01."""

from ontogeny.catalogue import comparison
from ontogeny.numerics.distance import weight_distance
from ontogeny.vocabulary import Pair, Reading


@comparison(unit="weight", source="Hoffer et al. 1705.08741 (recalled)", reference="first", stimuli=())
def distance_from_start(weight: Pair) -> dict[str, Reading]:
    """How far a weight matrix has moved from the first checkpoint.

    ‖θ_t − θ_0‖, Frobenius, one number a matrix; `relative` is that over ‖θ_0‖. Over all matrices of a
    checkpoint the root of the sum of squares is the distance of them together.

    Known: no training -> 0; steps of a random walk -> grows as t^0.5 (`statistics.growth` fits the power).
    Misleads: weight decay moves weights without anything being learned; the first checkpoint that was kept
    need not be step 0; vectors (norm gains, biases) are not in it.
    """
    return weight_distance(weight.here, weight.there)

"""TRA-05."""

from ontogeny.catalogue import back, comparison
from ontogeny.numerics.displacement import update_ranks
from ontogeny.vocabulary import Reading, Several

#: Differences between successive checkpoints that are looked at together.
UPDATES = 8


@comparison(
    unit="dimensions",
    source="Gur-Ari et al. 1812.04754 (recalled)",
    family="trajectory",
    reference=back(UPDATES),
    stimuli=(),
)
def update_rank(weight_sketch: Several) -> dict[str, Reading]:
    """In how many directions the last eight changes of the weights went.

    The differences between the last nine checkpoints, stacked; the fewest singular directions that hold 90 %
    of their energy, and `effective`, their entropy rank as in `effective_rank`. One number a matrix, and one
    for all parameters at the place "whole model"; more than 4,096 elements are CountSketched to so many.
    `no-target` at the first eight checkpoints.

    Known: a straight line -> 1; eight orthogonal changes of one length -> 8.
    Misleads: between checkpoints lie many steps, in unevenly kept series more and more of them: the longest
    difference is most of the energy.
    """
    positions = [*list(weight_sketch.there.values())[::-1], weight_sketch.here]
    gap = next((position for position in positions if isinstance(position, Reading)), None)
    return update_ranks(positions) if gap is None else {"": gap, "effective": gap}

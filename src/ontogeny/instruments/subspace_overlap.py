"""TRA-05."""

from ontogeny.catalogue import back, comparison
from ontogeny.numerics.displacement import overlap_of_halves
from ontogeny.vocabulary import Reading, Several

#: Differences in each of the two halves.
UPDATES = 4


@comparison(
    unit="share",
    source="Gur-Ari et al. 1812.04754; φ-overlap Hu et al. 2106.09685 (recalled)",
    family="trajectory",
    reference=back(2 * UPDATES),
    stimuli=(),
)
def subspace_overlap(weight_sketch: Several) -> dict[str, Reading]:
    """Whether the weights keep moving in the same few directions.

    (1/k) ‖UᵀV‖² = the mean squared cosine of the principal angles between the spaces of the last four
    changes of the weights and of the four before, k = 4; `chance` is what random spaces would have, k / d.
    One number a matrix, and one for all parameters at the place "whole model"; more than 4,096 elements are
    CountSketched to so many. `no-target` at the first eight checkpoints, `rank-deficient` where four
    changes span less than four directions.

    Known: the same space -> 1; orthogonal spaces -> 0; random ones -> k / d (0.0157 for 8 of 512).
    Misleads: each direction counts alike, however little of the movement it carries.
    """
    positions = [*list(weight_sketch.there.values())[::-1], weight_sketch.here]
    gap = next((position for position in positions if isinstance(position, Reading)), None)
    found = overlap_of_halves(positions) if gap is None else gap
    if found.reason:
        return {"": found}
    return {"": found, "chance": Reading(UPDATES / max(UPDATES, len(positions[0])), n=UPDATES)}

"""TRA-02."""

from ontogeny.catalogue import comparison
from ontogeny.numerics.displacement import displacement_cosine_of
from ontogeny.vocabulary import Reading, Several


@comparison(
    unit="cosine",
    source="standard (definition ours)",
    family="trajectory",
    reference=("before", "after", "first", "final"),
    stimuli=(),
)
def displacement_cosine(weights: Several) -> dict[str, Reading]:
    """Whether the weights go on in the direction they came from.

    cos(θ_{t+k} − θ_t, θ_t − θ_{t−k}) with the smallest k for which checkpoints at t − k and t + k were kept;
    `overall` is cos(θ_t − θ_0, θ_T − θ_0) of the first and the final checkpoint. One number a matrix, and
    one for all parameters together at the place "whole model". A definition of ours. `no-target` where no
    two checkpoints lie equally far, `constant-input` where nothing moved.

    Known: a straight line -> 1 and 1; a random walk -> 0 and √(t/T); noise around a point -> −0.5.
    Misleads: k differs where checkpoints are unevenly spaced; chance is as small as 1 / √n.
    """
    here, there = weights.here, weights.there
    return {
        "": _cosine((there["before"], here), (here, there["after"])),
        "overall": _cosine((there["first"], here), (there["first"], there["final"])),
    }


def _cosine(first: tuple, second: tuple) -> Reading:
    gap = next((end for end in (*first, *second) if isinstance(end, Reading)), None)
    return displacement_cosine_of(first, second) if gap is None else gap

"""How far two representations are apart after the best rotation of one onto the other."""

from ontogeny.numerics.similarity import Items, both_items
from ontogeny.numerics.spectra import singular_values
from ontogeny.vocabulary import Reading, Status, undefined


def procrustes_distance(here: Items, there: Items) -> Reading:
    """2 − 2‖XᵀY‖_* for centred X, Y of Frobenius norm 1; from 0 to 2. The nuclear norm does not see zeros
    that would pad the narrower side.

    Status: `constant-input` if all items of a side are equal, `failed` for unequal numbers of items.
    Known: Y = cXQ -> 0; independent Gaussians, n = 1024, p = 64 -> 1.58, and 2 as n grows.
    Misleads: with few items for the features anything can be rotated onto anything.
    """
    sides = both_items(here, there)
    if isinstance(sides, Reading):
        return sides
    x, y = (side.values for side in sides)
    n = len(x)
    sizes = [side.square().sum().sqrt() for side in (x, y)]
    for name, size in zip(("first", "second"), sizes, strict=True):
        if not size > 0:
            return undefined(Status.CONSTANT_INPUT, f"no two items differ on the {name} side", n=n)
    overlap = singular_values((x / sizes[0]).mT @ (y / sizes[1]))
    if isinstance(overlap, Reading):
        return overlap
    # By Hölder the nuclear norm is at most 1; what lies beyond is rounding.
    return Reading(max(0.0, 2 - 2 * float(overlap.sum())), n=n)

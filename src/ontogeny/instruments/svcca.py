"""SPE-08."""

from ontogeny.catalogue import comparison
from ontogeny.numerics.canonical import canonical_correlations
from ontogeny.vocabulary import Pair, Reading


@comparison(
    unit="correlation",
    source="Raghu et al. 1706.05806 (recalled)",
    family="spectra",
    reference="final",
    layers=True,
)
def svcca(sample_directions: Pair, *, share: float = 0.99) -> dict[str, Reading]:
    """How well the main directions of a layer match those of the same layer at the final checkpoint.

    Mean canonical correlation between the singular directions that hold 99 % of each side's variance, over
    the same 1,280 tokens. `squared` is the mean of ρ², `chance` what that would be for independent data,
    k / (n − 1); `kept` and `kept_there` count directions. Also between every two layers of one checkpoint.
    `n-too-small` below 10 tokens a direction, `rank-deficient` where there are as many directions as tokens.

    Known: X against X -> 1; Y = cXQ -> 1; independent, n = 640, 64 directions -> 0.27, squared 0.10.
    Misleads: a massive dimension holds the variance alone, and one direction is all that is compared; tokens
    of one text are not independent, so there are fewer than it looks.
    """
    here, there = sample_directions
    found = canonical_correlations(here, there, share)
    if isinstance(found, Reading):
        return {"": found}
    kept = [side.directions(share) for side in sample_directions]
    numbers = {
        "": float(found.mean()),
        "squared": float(found.square().mean()),
        "chance": max(kept) / (here.items - 1),
        "kept": float(kept[0]),
        "kept_there": float(kept[1]),
    }
    return {name: Reading(number, n=here.items) for name, number in numbers.items()}

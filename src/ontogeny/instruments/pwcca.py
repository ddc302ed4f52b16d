"""SPE-08."""

from ontogeny.catalogue import comparison
from ontogeny.numerics.canonical import canonical_variates, projection_weighted
from ontogeny.vocabulary import Pair, Reading


@comparison(
    unit="correlation",
    source="Morcos et al. 1806.05759 (recalled)",
    family="spectra",
    reference="final",
    layers=True,
)
def pwcca(sample_directions: Pair, *, share: float = 1.0) -> dict[str, Reading]:
    """How well a layer's directions match the final checkpoint's, weighted by what they carry.

    Σ α_i ρ_i over canonical correlations ρ, α_i ∝ Σ_j |⟨h_i, x_j⟩| with h_i the canonical variates and x_j
    the features of this side; `reverse` weighs by the other side's. All directions that are not rounding
    are kept (`share` takes fewer), of the same 1,280 tokens; `kept` and `kept_there` count them. Also
    between every two layers of one checkpoint. `n-too-small` below 10 tokens a direction, `rank-deficient`
    where there are as many directions as tokens.

    Known: X against X -> 1; Y = XM, M invertible -> 1 in both directions.
    Misleads: directions that only the wider side has are not counted; a rotation of this side's features
    changes their weights, and equal ρ leave those of their variates open.
    """
    here, there = sample_directions
    found = canonical_variates(here, there, share)
    if isinstance(found, Reading):
        return {"": found, "reverse": found}
    numbers = {
        "": projection_weighted(here, found.here, found.correlations),
        "reverse": projection_weighted(there, found.there, found.correlations),
        "kept": float(len(found.here)),
        "kept_there": float(len(found.there)),
    }
    return {name: Reading(number, n=here.items) for name, number in numbers.items()}

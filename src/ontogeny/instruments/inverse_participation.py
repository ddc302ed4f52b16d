"""ACT-06."""

from collections.abc import Mapping

from ontogeny.catalogue import instrument
from ontogeny.evidence.participations import Participations
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(unit="share", source="standard; localisation in 1810.01075 (recalled)", family="activations")
def inverse_participation(participations: Mapping[str, Participations]) -> dict[str, Reading]:
    """How few features carry a token's vector.

    IPR(v) = Σ v_i⁴ / (Σ v_i²)², averaged over the tokens of the fixed sample whose vector is not zero (`n`
    of them; position 0 is left out): `""` of the residual stream, `preactivation` and `activation` of an
    MLP's neurons. Which vectors it is taken of is a definition of ours; 1810.01075 takes eigenvectors.

    Known: one-hot -> 1; flat -> 1/d; Gaussian -> 3 / (d + 2).
    Misleads: it depends on the basis, and a massive dimension alone brings it near 1.
    """
    return {name: _mean(found) for name, found in participations.items()}


def _mean(participations: Participations) -> Reading:
    if not participations.tokens:
        return undefined(Status.TOO_SHORT, "no tokens are left without position 0", n=0)
    n = len(participations.values)
    if not n:
        return undefined(Status.ZERO_OUTPUT, "every vector is zero", n=0)
    return Reading(participations.values.mean(), n=n)

"""ACT-05."""

from ontogeny.catalogue import instrument
from ontogeny.evidence.residual_norms import Norms
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(unit="norm", source="standard (recalled)", family="activations")
def residual_norm(residual_norms: Norms) -> dict[str, Reading]:
    """How long the vectors of the residual stream after a block are.

    Mean of ‖resid_post‖ over tokens, position 0 left out; `first` is position 0's own mean.

    Known: vectors of length c -> c; independent unit-variance writes grow it as sqrt(layer + 1).
    Misleads: in a post-norm model it is set by the norm's gain; one massive dimension can carry it.
    """
    first = Reading(residual_norms.first / residual_norms.n_first, n=residual_norms.n_first)
    if residual_norms.n == 0:
        return {"": undefined(Status.TOO_SHORT, "no tokens are left without position 0", n=0), "first": first}
    return {"": Reading(residual_norms.total / residual_norms.n, n=residual_norms.n), "first": first}

"""ACT-04."""

from ontogeny.catalogue import instrument
from ontogeny.evidence.token_spread import Spread
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(
    unit="share",
    source="Dong et al. 2103.03404 (composite norm there, Frobenius here), Noci et al. 2206.03126 (recalled)",
    family="activations",
)
def rank_residual(token_spread: Spread) -> dict[str, Reading]:
    """How far the tokens of a sequence are from being all the same at this depth (rank collapse).

    ‖X − 1x̄ᵀ‖ / ‖X‖ (Frobenius) of each sequence's vectors, averaged over sequences; position 0 is left out,
    `with_first` has it in. The composite norm of the paper is another one.

    Known: identical tokens -> 0; T independent Gaussian vectors -> sqrt(1 − 1/T).
    Misleads: one large shared direction (a mean, a massive dimension) lowers it without any collapse.
    """
    n = token_spread.sequences
    if token_spread.length < 3:
        return {"": undefined(Status.TOO_SHORT, "no two tokens are left without position 0", n=0)}
    if token_spread.zeros:
        reason = f"{int(token_spread.zeros)} sequences are zero throughout"
        return {"": undefined(Status.ZERO_OUTPUT, reason, n=n)}
    without, whole = token_spread.summed / n
    return {"": Reading(without, n=n), "with_first": Reading(whole, n=n)}

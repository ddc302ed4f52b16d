"""ACT-04."""

from ontogeny.catalogue import instrument
from ontogeny.evidence.token_cosines import Cosines
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(
    unit="cosine", source="Dong et al. 2103.03404; Noci et al. 2206.03126 (recalled)", family="activations"
)
def token_similarity(token_cosines: Cosines) -> dict[str, Reading]:
    """How alike the tokens of a sequence have become at this depth (rank collapse).

    Mean off-diagonal cosine, (‖Σ x̂_t‖² − T) / (T(T − 1)), averaged over sequences; position 0 is left out,
    `with_first` has it in.

    Known: identical tokens -> 1; independent Gaussian vectors -> 0 ± 1/sqrt(d).
    Misleads: one large shared direction (a mean, a massive dimension) raises it without any collapse.
    """
    if token_cosines.length < 3:
        return {"": undefined(Status.TOO_SHORT, "no pairs are left without position 0")}
    if token_cosines.zeros:
        return {"": undefined(Status.ZERO_OUTPUT, f"{int(token_cosines.zeros)} vectors are zero")}
    n = token_cosines.sequences
    return {
        "": Reading(token_cosines.without_first / n, n=n),
        "with_first": Reading(token_cosines.with_first / n, n=n),
    }

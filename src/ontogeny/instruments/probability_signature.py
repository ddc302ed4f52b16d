"""TOK-05."""

from torch import Tensor

from ontogeny.catalogue import DataFacts, instrument
from ontogeny.numerics.neighbours import Neighbours, Ranked, pair_cosines_of, recall_of_top
from ontogeny.vocabulary import Reading, Status, undefined

#: Fewer pairs than this have no correlation worth a name.
FEWEST = 100


@instrument(
    unit="correlation",
    source="Yao & Xu 2509.20124 (from abstract); the three conditionals as signatures: definition ours",
    family="tokens",
)
def probability_signature(
    embedding_weight: Tensor, unembedding_weight: Tensor, facts: DataFacts
) -> dict[str, Reading]:
    """Whether tokens that stand in like surroundings in training have like vectors.

    Spearman's correlation, over pairs of the 2000 most frequent tokens, between the cosines of their vectors
    and of their signatures: embeddings with P(next | a) (the part's own number), unembeddings with
    P(previous | a) (`previous`), embeddings with the tokens within ± 8 (`context`). Both sides are centred
    by the mean that frequency weighs. `recall`, `recall_previous`, `recall_context`: what part of the 1 % of
    pairs with the most alike signatures is among the 1 % with the most alike vectors. An instrument, not a
    comparison as the index has it: no second checkpoint is looked at. `not-observable` where training data
    cannot be counted. From an abstract: that these three are the signatures is our assumption.

    Known: random projections of the signatures -> above 0.9; random vectors -> 0 ± 0.01, recall 0.01.
    Misleads: alike frequency makes alike vectors and alike signatures, even after centring; pairs are not
    independent, so a small correlation over millions of pairs may still be chance.
    """
    known = facts.statistics()
    if known is None:
        return _everywhere(undefined(Status.NOT_OBSERVABLE, "the data that was trained on cannot be counted"))
    if min(len(embedding_weight), len(unembedding_weight)) < known.vocabulary:
        return _everywhere(
            undefined(Status.NOT_OBSERVABLE, f"the model has not {known.vocabulary} tokens, as its data has")
        )
    beside = known.neighbours
    if not all(bool(one[beside.token].isfinite().all()) for one in (embedding_weight, unembedding_weight)):
        return _everywhere(undefined(Status.NONFINITE, "a vector holds what is no number"))
    embedded = Ranked(pair_cosines_of(embedding_weight[beside.token], beside.chance))
    unembedded = Ranked(pair_cosines_of(unembedding_weight[beside.token], beside.chance))
    found = {}
    for name, vectors in (("next", embedded), ("previous", unembedded), ("context", embedded)):
        own = "" if name == "next" else name
        alignment, recall = aligned(beside, name, vectors)
        found |= {own: alignment, f"recall_{own}".rstrip("_"): recall}
    return found


def aligned(beside: Neighbours, name: str, vectors: Ranked) -> tuple[Reading, Reading]:
    """Correlation and recall of one signature, over the pairs that have both cosines."""
    signature = beside.cosines[name]
    both = signature.finite & vectors.finite
    n = int(both.sum())
    if n < FEWEST:
        status = Status.CONSTANT_INPUT if int(signature.finite.sum()) >= FEWEST else Status.N_TOO_SMALL
        gap = undefined(status, f"{n} pairs of tokens have vectors and signatures that differ", n=n)
        return gap, gap
    same = "all pairs are equally alike"
    alignment = Reading(signature.correlation(vectors), n=n, status=Status.CONSTANT_INPUT, reason=same)
    return alignment, Reading(recall_of_top(signature.values[both], vectors.values[both]), n=n)


def _everywhere(gap: Reading) -> dict[str, Reading]:
    names = ("", "recall", "previous", "recall_previous", "context", "recall_context")
    return dict.fromkeys(names, gap)

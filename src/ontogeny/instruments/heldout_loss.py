"""TOK-06."""

from ontogeny.catalogue import instrument
from ontogeny.evidence.token_loss import TokenLoss
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(unit="nats/token", source="standard (recalled)", family="tokens")
def heldout_loss(token_loss: TokenLoss) -> Reading:
    """Loss on data the run never trains on.

    Weighted mean of −ln p(next token) over the stimulus's predictions.

    Known: a uniform model over V tokens -> ln V (V = 50257: 10.825).
    Misleads: it averages over tokens that were learned at very different times.
    """
    weights = token_loss.weights.double()
    if weights.sum() == 0:
        return undefined(Status.NO_TARGET, "no prediction of the stimulus has weight", n=0)
    counted = weights > 0
    total = (token_loss.loss.double()[counted] * weights[counted]).sum()
    return Reading(total / weights.sum(), n=int(counted.sum()))

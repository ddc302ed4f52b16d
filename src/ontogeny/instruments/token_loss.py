"""TOK-01."""

import torch

from ontogeny.catalogue import instrument
from ontogeny.evidence.token_loss import TokenLoss
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(
    unit="nats/token",
    source="Chang & Bergen 2110.02406; Chang, Tu, Bergen 2308.15419 (checked)",
    family="tokens",
    array=("item", "position"),
)
def token_loss(token_loss: TokenLoss) -> Reading:
    """The loss of every single prediction of the stimulus, kept as an array.

    −ln p(token t + 1 | tokens 0 … t) in nats [item position]: column t is the prediction made at position
    t; NaN where a prediction has no weight. The number beside the array is their plain mean.

    Known: a uniform model over V tokens -> ln V everywhere (V = 50257: 10.825 nats, 15.617 bits).
    Misleads: a single prediction says as much about its context as about its token.
    """
    loss = token_loss.loss.masked_fill(token_loss.weights <= 0, torch.nan)
    counted = ~loss.isnan()
    if not bool((token_loss.weights > 0).any()):
        return undefined(Status.NO_TARGET, "no prediction of the stimulus has weight", n=0)
    if not bool(counted.any()):
        return undefined(Status.NONFINITE, "no loss is a number", n=0)
    kept = token_loss.loss[token_loss.weights > 0].double()
    return Reading(kept.mean(), n=len(kept), array=loss)

"""TOK-06."""

import math

from ontogeny.catalogue import instrument
from ontogeny.evidence.token_loss import TokenLoss
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(unit="bits/token", source="standard (recalled)", family="tokens")
def surprisal(token_loss: TokenLoss) -> dict[str, Reading]:
    """How many bits the model lacks to know the next token.

    Mean of −log2 p(next token) over the predictions that have weight, whatever their weight; the first
    token of a row is predicted by nothing and not among them. `perplexity` is 2 to that mean; `median` and
    `worst` are the median and the 99th percentile of single predictions.

    Known: a uniform model over V tokens -> log2 V, perplexity V (V = 50257: 15.617 bits = 10.825 nats).
    Misleads: bits a token of different tokenizers cannot be compared; nor can perplexities.
    """
    bits = token_loss.loss[token_loss.weights > 0].double() / math.log(2)
    if not len(bits):
        return dict.fromkeys(
            ("", "perplexity", "median", "worst"),
            undefined(Status.NO_TARGET, "no prediction of the stimulus has weight", n=0),
        )
    mean = bits.mean()
    return {
        "": Reading(mean, n=len(bits)),
        "perplexity": Reading(mean.exp2(), n=len(bits)),
        "median": Reading(bits.quantile(0.5), n=len(bits)),
        "worst": Reading(bits.quantile(0.99), n=len(bits)),
    }

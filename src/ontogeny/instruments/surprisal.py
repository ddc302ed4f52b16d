"""TOK-06."""

import math

import torch

from ontogeny.catalogue import instrument
from ontogeny.evidence.token_loss import TokenLoss
from ontogeny.evidence.word_bounds import WordBounds
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(
    unit="bits/token",
    source="standard (recalled); words: Pimentel & Meister 2406.14561 (recalled)",
    family="tokens",
)
def surprisal(token_loss: TokenLoss, word_bounds: WordBounds) -> dict[str, Reading]:
    """How many bits the model lacks to know the next token.

    Mean of −log2 p(next token) over the predictions that have weight, whatever their weight; the first
    token of a row is predicted by nothing and not among them. `perplexity` is 2 to that mean; `median` and
    `worst` are the median and the 99th percentile of single predictions. `word` is the mean over words
    (white space and what follows it up to the next) that lie whole in a row: the sum over their tokens, plus
    log2 of the chance that a word begins where it does, less log2 of that where it ends, since white space
    belongs to the word after it. `not-observable` where tokens are not known to be pieces of text.

    Known: a uniform model over V tokens -> log2 V, perplexity V (V = 50257: 15.617 bits = 10.825 nats).
    Misleads: bits a token of different tokenizers cannot be compared; nor can perplexities. Those a word
    can, on the same text; in code a run of spaces is a word.
    """
    bits = token_loss.loss[token_loss.weights > 0].double() / math.log(2)
    if not len(bits):
        gap = undefined(Status.NO_TARGET, "no prediction of the stimulus has weight", n=0)
        return dict.fromkeys(("", "perplexity", "median", "worst", "word"), gap)
    mean = bits.mean()
    return {
        "": Reading(mean, n=len(bits)),
        "perplexity": Reading(mean.exp2(), n=len(bits)),
        "median": Reading(bits.quantile(0.5), n=len(bits)),
        "worst": Reading(bits.quantile(0.99), n=len(bits)),
        "word": _of_words(token_loss, word_bounds),
    }


def _of_words(losses: TokenLoss, bounds: WordBounds) -> Reading:
    if not len(bounds.first):
        return undefined(Status.NOT_OBSERVABLE, "tokens are not known to be pieces of text")
    # Column t holds the loss of token t + 1: a word from token i up to token j has columns i − 1 … j − 2.
    column = torch.arange(losses.loss.shape[1])
    inside = (column >= bounds.first[:, None] - 1) & (column < bounds.last[:, None] - 1)
    whole = (bounds.last > bounds.first) & ~(inside & (losses.weights <= 0)).any(1)
    words = int(bounds.words[whole].sum())
    if not words:
        return undefined(Status.TOO_SHORT, "no row holds a whole word", n=0)
    spent = losses.loss.double().masked_fill(~inside, 0).sum(1) + bounds.before - bounds.after
    return Reading(spent[whole].sum() / words / math.log(2), n=words)

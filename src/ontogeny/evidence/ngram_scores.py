"""How far a model's predictions are from n-gram models of its training data, prediction by prediction."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed
from ontogeny.numerics.kneser_ney import KneserNey
from ontogeny.vocabulary import Reading, Status, Stimulus, undefined

#: Predictions looked at, evenly spread over those that have weight: a whole row of the vocabulary for each.
MOST = 1024
#: A context counts where training showed it this often.
SEEN = 5
#: Probabilities held at once, for each of the few tensors of this size.
CHUNK = 1 << 20


class NgramScores(NamedTuple):
    """[order prediction]; NaN where the context of n − 1 tokens was not seen often enough.

    divergence   KL(model ‖ n-gram) in nats
    variation    total variation between the two
    agreement    1 where their likeliest tokens are the same, else 0
    change       total variation between the n-gram model and that of one order less; NaN for order 1
    """

    divergence: Tensor
    variation: Tensor
    agreement: Tensor
    change: Tensor


def chosen_predictions(stimulus: Stimulus, most: int = MOST) -> Tensor:
    """Flat indices [prediction] of evenly spread predictions that have weight."""
    weighted = (stimulus.weights.flatten() > 0).nonzero().flatten()
    count = min(most, len(weighted))
    return weighted[torch.arange(count) * len(weighted) // max(count, 1)]


class _State(NamedTuple):
    model: KneserNey
    chosen: Tensor
    scores: list[NgramScores]


class _NgramScores:
    def init(self, view: View) -> _State | Reading:
        known = None if view.facts is None else view.facts.statistics()
        if known is None:
            return undefined(Status.NOT_OBSERVABLE, "the data that was trained on cannot be counted")
        if view.tensor.shape[-1] < known.vocabulary:
            reason = f"{view.tensor.shape[-1]} logits for {known.vocabulary} tokens of the training data"
            return undefined(Status.NOT_OBSERVABLE, reason)
        return _State(known.ngrams(view.stimulus.tokens), chosen_predictions(view.stimulus), [])

    def update(self, state: _State | Reading, view: View) -> _State | Reading:
        if isinstance(state, Reading):
            return state
        length = view.stimulus.shape[1]
        bounds = torch.tensor([view.rows.start * length, view.rows.stop * length])
        start, stop = torch.searchsorted(state.chosen, bounds).tolist()
        logits = view.tensor.flatten(0, 1)
        rows = max(CHUNK // logits.shape[1], 1)
        for first in range(start, stop, rows):
            places = state.chosen[first : min(first + rows, stop)]
            here = (places - view.rows.start * length).to(logits.device)
            state.scores.append(scored(logits.index_select(0, here).float(), places, state.model))
        return state

    def finish(self, state: _State | Reading) -> NgramScores | Reading:
        if isinstance(state, Reading):
            return state
        if not state.scores:
            return undefined(Status.NO_TARGET, "no prediction of the stimulus has weight", n=0)
        columns = zip(*state.scores, strict=True)
        return NgramScores(*(torch.cat(column, 1).cpu() for column in columns))


def scored(logits: Tensor, places: Tensor, model: KneserNey) -> NgramScores:
    """Scores of the predictions at flat indices `places` of the rows that the model was made for.

    Logits beyond the vocabulary of the training data are no tokens: the model is read without them.
    """
    log_chances = logits[:, : model.vocabulary].log_softmax(-1)
    chances = log_chances.exp()
    negentropy = -torch.special.entr(chances).sum(-1)
    best = log_chances.argmax(-1)
    found = NgramScores(*torch.full((4, model.orders, len(places)), torch.nan))
    for order, (kept, change, ngram) in enumerate(_orders(model, places, logits.device)):
        ours = chances if len(kept) == len(chances) else chances.index_select(0, kept.to(chances.device))
        found.divergence[order, kept] = (negentropy[kept] - (ours * ngram.log()).sum(-1)).cpu()
        variation = (1 - torch.minimum(ours, ngram).sum(-1)).clamp(0, 1)
        found.variation[order, kept] = variation.cpu()
        found.agreement[order, kept] = (best[kept] == ngram.argmax(-1)).float().cpu()
        found.agreement[order, kept[variation.isnan().cpu()]] = torch.nan
        found.change[order, kept] = change
    return found


def _orders(
    model: KneserNey, places: Tensor, device: torch.device
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Which predictions have an order's context, how far the order's model is from the last one's, and it."""
    lower, earlier = torch.zeros(0), torch.zeros(0, dtype=torch.long)
    for kept, ngram in model.each_order(places, SEEN):
        change = torch.full((len(kept),), torch.nan)
        if len(earlier):
            same = lower.index_select(0, torch.searchsorted(earlier, kept))
            change = (1 - torch.minimum(same, ngram).sum(-1)).clamp(0, 1)
        yield kept, change, ngram.to(device)
        lower, earlier = ngram, kept


streamed("ngram_scores", at="logits", make=_NgramScores)

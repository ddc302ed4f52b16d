"""Attention paid to key 0, and to keys drawn at random (the same at every checkpoint) as its null.

Uniform attention favours key 0, which every query can see; each draw is moved by what that alone makes, so
that a head that attends uniformly reads the same as its null.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.attention_to_aim import Screened
from ontogeny.evidence.kinds import View, streamed
from ontogeny.vocabulary import Reading, Status, Stimulus, undefined

#: Queries of the shorter reading: causal attention of the first ones is that of a shorter text.
EARLY = 64


class Received(NamedTuple):
    """Attention every key received, summed over queries [sequence head key]; key 0 from the first queries
    alone [sequence head]."""

    sums: list[Tensor]
    early: list[Tensor]
    stimulus: Stimulus


class _AttentionToFirst:
    def init(self, view: View) -> Received:
        return Received([], [], view.stimulus)

    def update(self, state: Received, view: View) -> Received:
        state.sums.append(view.tensor.sum(2).double().cpu())
        state.early.append(view.tensor[:, :, :EARLY, 0].sum(2).double().cpu())
        return state

    def finish(self, state: Received) -> Screened | Reading:
        sums = torch.cat(state.sums)
        sequences, _, length = sums.shape
        aim = state.stimulus.aims.get("previous")
        if aim is None:
            return undefined(Status.NO_TARGET, f"stimulus {state.stimulus.name!r} draws no random keys")
        rows, n = torch.arange(sequences), sequences * length
        harmonic = (1 / torch.arange(1, length + 1, dtype=torch.float64)).flip(0).cumsum(0).flip(0)
        chance = harmonic[0] / length
        # The false lags of `previous` lie in 2 … T / 2: read as key positions they are random keys.
        keys = aim.lags[aim.shuffled]
        excess = sums[rows, :, keys].sum(1) - harmonic[keys].sum(1, keepdim=True)
        shuffled = excess / (length - keys).sum(1, keepdim=True) + chance
        early_n = sequences * min(EARLY, length)
        early = torch.cat(state.early).sum(0) / early_n
        return Screened(sums[:, :, 0].sum(0) / n, n, shuffled, early, early_n)


streamed("attention_to_first", at="attention", make=_AttentionToFirst)

"""How alike the patterns of a layer's heads are: cosines of whole patterns, sequence by sequence."""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed
from ontogeny.numerics.pair_cosines import PairCosines, cosines_of

#: A pattern whose entries are within so many roundings of uniform attention has no direction of its own.
ROUNDINGS = 8


class Patterns(NamedTuple):
    """Cosines of patterns as they are, and less uniform attention [query · key]."""

    raw: PairCosines
    centred: PairCosines
    uniform: Tensor


class _PatternCosines:
    """One matrix product a batch: patterns less uniform attention, and uniform attention itself, with each
    other. Where patterns are nearly uniform, the difference is taken before anything is squared."""

    def init(self, view: View) -> Patterns:
        heads, length = view.tensor.shape[1], view.tensor.shape[-1]
        # Encoders see all keys. Whether this is one shows in its first pattern.
        causal = not bool((view.tensor[:1].triu(1) > 0).any())
        seen = torch.ones(length, length, device=view.tensor.device)
        seen = seen.tril() if causal else seen
        none = PairCosines.none(heads, view.tensor.device)
        return Patterns(none, none, (seen / seen.sum(1, keepdim=True)).flatten())

    def update(self, state: Patterns, view: View) -> Patterns:
        pattern = view.tensor.float().flatten(2)
        sequences, heads, entries = pattern.shape
        rows = pattern.new_empty(sequences, heads + 1, entries)
        torch.sub(pattern, state.uniform, out=rows[:, :heads])
        rows[:, heads] = state.uniform
        products = (rows @ rows.mT).double()
        centred, along = products[:, :heads, :heads], products[:, :heads, heads:]
        whole = products[:, heads:, heads:]
        least = (ROUNDINGS * torch.finfo(view.tensor.dtype).eps) ** 2 * whole
        return state._replace(
            raw=state.raw + cosines_of(centred + along + along.mT + whole),
            centred=state.centred + cosines_of(centred, least),
        )

    def finish(self, state: Patterns) -> Patterns:
        return state


streamed("pattern_cosines", at="attention", make=_PatternCosines)

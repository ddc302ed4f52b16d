"""Attention paid to a stimulus's aims (the previous token, the successor of an earlier copy …).

For every head: the mean weight over eligible queries on the key the aim names, and the same statistic when
every sequence's lag is replaced by another of the same kind: the shuffled-lag null, drawn with the
stimulus, so that it is the same at every checkpoint. Uniform attention reads differently at different lags
(early queries have few keys), so each draw is moved by that constant: a head that attends uniformly reads
the same as its null.
"""

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed
from ontogeny.vocabulary import Aim, Reading, Status, undefined


class Screened(NamedTuple):
    """Score [head], the number of queries behind it, and the same under the null [draw head]."""

    score: Tensor
    n: int
    shuffled: Tensor


class Sums(NamedTuple):
    """Attention by lag [sequence head lag], summed over eligible queries; what key 0 got of it; the aim."""

    all_keys: list[Tensor]
    key_zero: list[Tensor]
    aim: Aim


def _pooled(sums: Tensor, counts: Tensor, lags: Tensor) -> tuple[Tensor, Tensor]:
    """Weight on one lag a sequence, pooled over all queries: ([… head], number of queries [… 1]).

    `sums` is [sequence head lag], `counts` [sequence lag]; `lags` [… sequence] may hold many draws.
    """
    rows = torch.arange(lags.shape[-1])
    n = counts[rows, lags].sum(-1, keepdim=True)
    return sums[rows, :, lags].sum(-2) / n, n


class _AttentionToAim:
    def __init__(self, aim: str) -> None:
        self.aim = aim

    def init(self, view: View) -> Sums | Reading:
        aim = view.stimulus.aims.get(self.aim)
        if aim is None:
            return undefined(Status.NO_TARGET, f"stimulus {view.stimulus.name!r} has no aim {self.aim!r}")
        return Sums([], [], aim)

    def update(self, state: Sums | Reading, view: View) -> Sums | Reading:
        if isinstance(state, Sums):
            all_keys, key_zero = view.lag_sums(state.aim.queries)
            state.all_keys.append(all_keys)
            state.key_zero.append(key_zero)
        return state

    def finish(self, state: Sums | Reading) -> Screened | Reading:
        if isinstance(state, Reading):
            return state
        sums, zero = torch.cat(state.all_keys), torch.cat(state.key_zero)
        queries = state.aim.queries.double()
        positions = torch.arange(queries.shape[1])
        reachable = (positions[:, None] >= positions[None, :-1]).double()
        share = queries / (positions + 1)
        counts, uniform = queries @ reachable, share @ reachable
        score, n = _pooled(sums, counts, state.aim.lags)
        chance, _ = _pooled(uniform[:, None], counts, state.aim.lags)
        # Key 0 is never a target of a shuffled lag: a sink there would look like chance success.
        sums, counts, uniform = sums - zero, counts - queries[:, :-1], uniform - share[:, :-1]
        drawn, _ = _pooled(sums, counts, state.aim.shuffled)
        uniformly, _ = _pooled(uniform[:, None], counts, state.aim.shuffled)
        return Screened(score, int(n), drawn - uniformly + chance)


for _aim in ("previous", "successor", "duplicate"):
    streamed(f"attention_to_{_aim}", at="attention", make=partial(_AttentionToAim, _aim))

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
    """Weight on one lag a sequence, pooled over all queries: ([head], number of queries)."""
    rows = torch.arange(len(lags))
    n = counts[rows, lags].sum()
    return sums[rows, :, lags].sum(0) / n, n


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
            queries = state.aim.queries[view.rows].to(view.tensor)
            by_lag = queries[:, None, None, :] @ view.by_lag
            state.all_keys.append(by_lag[:, :, 0].double().cpu())
            zero = view.tensor[:, :, :-1, 0] * queries[:, None, :-1]
            state.key_zero.append(zero.double().cpu())
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
        shuffled = [
            _pooled(sums, counts, lags)[0] - _pooled(uniform[:, None], counts, lags)[0] + chance
            for lags in state.aim.shuffled
        ]
        return Screened(score, int(n), torch.stack(shuffled))


for _aim in ("previous", "successor", "duplicate"):
    streamed(f"attention_to_{_aim}", at="attention", make=partial(_AttentionToAim, _aim))

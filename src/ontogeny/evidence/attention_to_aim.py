"""Attention paid to a stimulus's aims (the previous token, the successor of an earlier copy …).

For every head: the mean weight over eligible queries on the key the aim names, and the same statistic when
every sequence is read with a false template: the null, drawn with the stimulus, so that it is the same at
every checkpoint. Where false templates are those of other sequences, true and false readings have exactly
the same lags and query positions, and only content tells them apart. Elsewhere uniform attention may read
differently (early queries have few keys), so each draw is moved by that constant: a head that attends
uniformly reads the same as its null.
"""

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed
from ontogeny.vocabulary import Aim, Reading, Status, undefined


class Screened(NamedTuple):
    """Score [head], the number of queries behind it, and the same under the null [draw head].

    `early` and `early_n`: the score over the first queries alone, where a part is defined for so many; else
    empty.
    """

    score: Tensor
    n: int
    shuffled: Tensor
    early: Tensor = torch.empty(0)
    early_n: int = 0


class Sums(NamedTuple):
    """Attention read with every template, summed over its queries [sequence head template]; the aim."""

    sums: list[Tensor]
    aim: Aim


class _AttentionToAim:
    def __init__(self, aim: str) -> None:
        self.aim = aim

    def init(self, view: View) -> Sums | Reading:
        aim = view.stimulus.aims.get(self.aim)
        if aim is None:
            return undefined(Status.NO_TARGET, f"stimulus {view.stimulus.name!r} has no aim {self.aim!r}")
        return Sums([], aim)

    def update(self, state: Sums | Reading, view: View) -> Sums | Reading:
        if isinstance(state, Sums):
            state.sums.append(view.template_sums(state.aim))
        return state

    def finish(self, state: Sums | Reading) -> Screened | Reading:
        if isinstance(state, Reading):
            return state
        sums, aim = torch.cat(state.sums), state.aim
        counts = aim.queries.sum(1)
        chance = aim.queries.double() @ (1 / torch.arange(1, aim.queries.shape[1] + 1).double())
        score, uniformly, n = _pooled(sums, counts, chance, aim.own)
        drawn, drawn_uniformly, _ = _pooled(sums, counts, chance, aim.shuffled)
        return Screened(score, int(n), drawn - drawn_uniformly + uniformly)


def _pooled(sums: Tensor, counts: Tensor, chance: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mean weight over all queries under one template a sequence: that of each head [… head], that of uniform
    attention [… 1], and the number of queries [… 1]. `chosen` [… sequence] may hold many draws."""
    n = counts[chosen].sum(-1, keepdim=True)
    rows = torch.arange(chosen.shape[-1])
    return sums[rows, :, chosen].sum(-2) / n, chance[chosen].sum(-1, keepdim=True) / n, n


for _aim in ("previous", "successor", "duplicate"):
    streamed(f"attention_to_{_aim}", at="attention", make=partial(_AttentionToAim, _aim))

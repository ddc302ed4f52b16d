"""A fixed input that checkpoints are measured on, with what its positions mean."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ontogeny.vocabulary.streams import digest


@dataclass(frozen=True)
class Aim:
    """Which key each query of a stimulus ought to look at, and false aims for comparison.

    A *template* is a lag and the queries it concerns: under template k, query t aims at key t − lags[k],
    where `queries[k, t]` is true. `own` is the template that is true of each sequence. In a draw of the null
    every sequence is read with the template `shuffled` gives it, which is never its own.
    """

    lags: Int[Tensor, "template"]
    queries: Bool[Tensor, "template position"]
    own: Int[Tensor, "sequence"]
    shuffled: Int[Tensor, "draw sequence"]


@dataclass(frozen=True)
class Stimulus:
    """Tokens, which of their predictions count, and named aims for attention.

    `weights[s, t]` is the weight of predicting token t + 1 from position t (the last column is 0).
    `facts` states how it was made; all of it goes into the hash, which is part of every row's key.
    """

    name: str
    tokens: Int[Tensor, "sequence position"]
    weights: Float[Tensor, "sequence position"]
    aims: Mapping[str, Aim] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def hash(self) -> str:
        parts = [self.tokens, self.weights]
        for name in sorted(self.aims):
            aim = self.aims[name]
            parts += [aim.lags, aim.queries, aim.own, aim.shuffled]
        tag = torch.tensor(list(f"{self.name}{sorted(self.aims)}{sorted(self.facts.items())}".encode()))
        return f"{digest([*parts, tag]):016x}"

    @property
    def shape(self) -> tuple[int, int]:
        """Sequences and positions."""
        return (self.tokens.shape[0], self.tokens.shape[1])

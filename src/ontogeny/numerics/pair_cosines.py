"""Cosines between every two of a few vectors, summed over many occasions (sequences, tokens)."""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.vocabulary import Reading, Status, undefined


class PairCosines(NamedTuple):
    """Sum of cosines [vector vector], and over how many occasions both had a direction [vector vector].

    The diagonal counts nothing.
    """

    total: Tensor
    occasions: Tensor

    @classmethod
    def none(cls, vectors: int, device: torch.device | None = None) -> "PairCosines":
        zeros = torch.zeros(vectors, vectors, dtype=torch.float64, device=device)
        return cls(zeros, zeros)

    def __add__(self, other: "PairCosines") -> "PairCosines":  # type: ignore[override]  # no concatenation
        return PairCosines(self.total + other.total, self.occasions + other.occasions)


def cosines_of(products: Tensor, least: Tensor | float = 0.0) -> PairCosines:
    """From inner products [occasion vector vector] of the vectors of each occasion.

    A vector whose square is at most `least` has no direction, and its pairs are left out; one that is not
    finite makes its pairs NaN.
    """
    squares = products.diagonal(dim1=1, dim2=2)[..., None]
    directed = ~(squares <= least)
    pairs = directed & directed.mT
    pairs.diagonal(dim1=1, dim2=2).fill_(False)
    cosines = products * squares.rsqrt() * squares.mT.rsqrt()
    counted = torch.where(pairs, cosines.clamp(-1, 1), 0.0)
    return PairCosines(counted.sum(0), pairs.sum(0).double())


def mean_cosine(cosines: PairCosines, lacking: Status, reason: str) -> Reading:
    """The mean over pairs of each pair's mean cosine; n is the number of cosines behind it.

    Status: `n-too-small` for a single vector; `lacking`, with the reason, where no pair has two directions.
    Known: equal vectors -> 1; independent random ones of d entries -> 0, each pair give or take 1/√d.
    Misleads: vectors with a large common part are all alike; a mean hides two groups of them.
    """
    vectors = len(cosines.total)
    if vectors < 2:
        return undefined(Status.N_TOO_SMALL, f"{vectors} of them have no pairs", n=0)
    there = cosines.occasions > 0
    if not bool(there.any()):
        return undefined(lacking, reason, n=0)
    each = cosines.total[there] / cosines.occasions[there]
    return Reading(each.mean(), n=int(cosines.occasions.sum()) // 2)

"""What stands at both ends of every path through a model: the embedding, and what reads logits off."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

#: Tokens taken at a time, so that no second copy of a large vocabulary is made in double precision.
TOKENS = 8192


class Moments(NamedTuple):
    """Of vectors [token width]: their mean [width], Σ of products of deviations [width width], how many."""

    mean: Tensor
    scatter: Tensor
    n: int

    def seen_by(self, reader: Tensor) -> "Moments":
        """The same of what a reader [thin width] makes of the vectors."""
        return Moments(reader @ self.mean, reader @ self.scatter @ reader.mT, self.n)


@dataclass(frozen=True)
class TokenEnds:
    """Embedding and unembedding [vocabulary width], and the final norm's gain [width] or None."""

    embedding: Tensor
    unembedding: Tensor
    gain: Tensor | None = None

    @cached_property
    def meeting(self) -> Tensor:
        """Σ_t e_t (g ⊙ u_t)ᵀ [width width] in float64: what is left of both ends for any map between them.

        For a map M of the stream, the trace of Mᵀ · meeting is the sum over tokens of what M moves from a
        token to its own logit.
        """
        width = self.embedding.shape[1]
        total = torch.zeros(width, width, dtype=torch.float64, device=self.embedding.device)
        both = min(len(self.embedding), len(self.unembedding))
        for start in range(0, both, TOKENS):
            rows = slice(start, min(start + TOKENS, both))
            total.addmm_(self.embedding[rows].double().mT, self.unembedding[rows].double())
        return total if self.gain is None else total * self.gain.double()

    @cached_property
    def moments(self) -> tuple[Moments, Moments]:
        """Of e_t and of g ⊙ u_t, over tokens that have both: all that is left once labels are shuffled."""
        both = min(len(self.embedding), len(self.unembedding))
        gain = torch.ones(()) if self.gain is None else self.gain.double()
        return _moments(self.embedding[:both], torch.ones(())), _moments(self.unembedding[:both], gain)


def _moments(vectors: Tensor, gain: Tensor) -> Moments:
    gain = gain.to(vectors.device).double()
    mean = vectors.mean(0, dtype=torch.float64) * gain
    scatter = torch.zeros(len(mean), len(mean), dtype=torch.float64, device=vectors.device)
    for start in range(0, len(vectors), TOKENS):
        left = vectors[start : start + TOKENS].double() * gain - mean
        scatter.addmm_(left.mT, left)
    return Moments(mean, scatter, len(vectors))

"""What stands at both ends of every path through a model: the embedding, and what reads logits off."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

#: Tokens taken at a time, so that no second copy of a large vocabulary is made in double precision.
TOKENS = 8192


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

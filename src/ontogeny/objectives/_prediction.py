"""The loss that the objectives here share: predict each token of a row from those before it.

One convention: rows of T tokens; the model sees tokens[:, :-1], the targets are tokens[:, 1:], and losses
and weights are [sequence, T − 1], column t for predicting token t + 1 from position t. Held-out rows carry
weights [sequence, T] whose last column is 0, as a Stimulus wants them.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from ontogeny.errors import BadRecipe
from ontogeny.vocabulary import Losses


def prediction_losses(
    model: Callable[[Tensor], Tensor],
    tokens: Int[Tensor, "sequence token"],
    weights: Float[Tensor, "sequence position"] | None = None,
) -> Losses:
    """Cross-entropy of every next token, in nats and in float32 also under autocast; no weights: all 1."""
    logits: Tensor = model(tokens[:, :-1])
    values = F.cross_entropy(logits.float().transpose(1, 2), tokens[:, 1:], reduction="none")
    return Losses(values, torch.ones_like(values) if weights is None else weights)


def rows_and_weights(
    tokens: Int[Tensor, "sequence token"], weights: Float[Tensor, "sequence position"] | None = None
) -> tuple[Int[Tensor, "sequence token"], Float[Tensor, "sequence token"]]:
    """Held-out rows with the weights of their predictions, and the 0 of the last token, which has none."""
    padded = torch.zeros(tokens.shape)
    padded[:, :-1] = 1 if weights is None else weights
    return tokens, padded


def check_counts(**counts: Any) -> None:
    """BadRecipe for a parameter of an objective that is no count from 1."""
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise BadRecipe(f"objective.{name} is not a count", received=count, allowed="integers from 1")

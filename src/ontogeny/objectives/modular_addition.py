"""Addition modulo a prime, part of the table held out: the task on which grokking was first seen."""

from collections.abc import Callable
from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ontogeny.catalogue import Batch, objective
from ontogeny.errors import BadRecipe
from ontogeny.objectives._prediction import check_counts, prediction_losses, rows_and_weights
from ontogeny.vocabulary import Draw, Losses, Streams, TrainingState


@objective(source="Power et al. 2201.02177; form of Nanda et al. 2301.05217")
class modular_addition:
    """Predict (a + b) mod p from the row a b =, at the last of these three only.

    A row is a, b, =, a + b; `=` is token p. A share `train_share` of the p² pairs, chosen by `split_seed`, is
    trained on: `batch` of them a step without repetition, all of them if there are no more. The other pairs
    are held out.
    Known: ln(p) nats for a guess; 0 is reached on the training pairs long before the others.
    Misleads: a held-out pair whose mirror image was trained on can be known by symmetry alone, so the
    accuracy on held-out pairs may stand near `train_share` with nothing else understood.
    """

    state_free = True
    #: The answer is part of the row, so that held-out rows can be scored.
    context = 4

    def __init__(
        self, *, prime: int = 97, train_share: float = 0.4, batch: int = 512, split_seed: int = 0
    ) -> None:
        check_counts(prime=prime, batch=batch)
        if prime < 2 or any(prime % divisor == 0 for divisor in range(2, int(prime**0.5) + 1)):
            raise BadRecipe("objective.prime is no prime", received=prime, allowed="2, 3, 5, 7, 11 …")
        self.prime, self.rows, self.vocabulary = prime, batch, prime + 1
        kept = round(train_share * prime**2) if 0 < train_share < 1 else 0
        if not 0 < kept < prime**2:
            raise BadRecipe(
                "objective.train_share leaves one side without pairs",
                received=f"{train_share} of {prime**2} pairs",
                allowed="0 < train_share < 1, with at least one pair on each side",
            )
        rng = Streams(split_seed).generator("split", place="modular_addition")
        self.trained, self.others = torch.randperm(prime**2, generator=rng).split([kept, prime**2 - kept])

    def draw(self, step: int, rng: torch.Generator) -> Draw:
        """Pairs, each as a·p + b [sequence]."""
        if self.rows >= len(self.trained):
            return Draw(self.trained)
        return Draw(self.trained[torch.randperm(len(self.trained), generator=rng)[: self.rows]])

    def batch(self, draw: Draw, state: TrainingState, rng: torch.Generator) -> Batch:
        """`tokens` [sequence, 4] and `weights` [sequence, 3], 1 where the answer is predicted."""
        tokens = self._tokens(draw.items)
        return {"tokens": tokens, "weights": self._weights(tokens)}

    def _tokens(self, pairs: Int[Tensor, "pair"]) -> Int[Tensor, "pair token"]:
        first, second = pairs // self.prime, pairs % self.prime
        equals = torch.full_like(first, self.prime)
        return torch.stack([first, second, equals, (first + second) % self.prime], 1)

    def _weights(self, tokens: Int[Tensor, "pair token"]) -> Float[Tensor, "pair position"]:
        return torch.tensor([0.0, 0.0, 1.0]).repeat(len(tokens), 1)

    def loss(self, model: Callable[[Tensor], Tensor], batch: Batch) -> Losses:
        return prediction_losses(model, batch["tokens"], batch["weights"])

    def facts(self) -> Self:
        return self

    def heldout(
        self, sequences: int, length: int
    ) -> tuple[Int[Tensor, "sequence token"], Float[Tensor, "sequence token"]] | None:
        """Pairs never trained on, at most `sequences` of them; None if a row of 4 tokens is too long."""
        if length < self.context:
            return None
        tokens = self._tokens(self.others[:sequences])
        return rows_and_weights(tokens, self._weights(tokens))

    def token_counts(self) -> Int[Tensor, "vocabulary"]:
        """How often each token stands in the training pairs' rows, each pair taken once."""
        return torch.bincount(self._tokens(self.trained).flatten(), minlength=self.vocabulary)

    def statistics(self) -> None:
        return None

    def word_starts(self) -> None:
        return None

    def fixed_lags(self) -> frozenset[int]:
        return frozenset()

    def beginning(self) -> None:
        return None

    def text(self, tokens: Tensor) -> str:
        return " ".join("=" if token == self.prime else str(token) for token in map(int, tokens))

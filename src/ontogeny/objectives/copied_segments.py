"""Random tokens in which one segment comes twice: what induction heads are for, and nothing else."""

from collections.abc import Callable
from typing import Literal, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ontogeny.catalogue import Batch, objective
from ontogeny.errors import BadRecipe
from ontogeny.objectives._prediction import check_counts, prediction_losses, rows_and_weights
from ontogeny.vocabulary import Draw, Losses, Streams, TrainingState

#: More than any count of places, so that a remainder of it favours none noticeably, and below 2^63.
MANY = 1 << 62


@objective(source="ours; after the repeated random tokens of Olsson et al. 2209.11895")
class copied_segments:
    """Predict uniformly random tokens of which one segment is copied right after itself.

    A row has `context` tokens; the segment has `shortest` to `longest` of them and, with start = "random",
    lies anywhere it fits twice; with "zero" it opens the row. A prediction is given away if its target is in
    the copy and not the copy's first token; loss_on = "repeats" learns from these alone, "all" from all.
    With one length and start = "zero" the lag is fixed and a positional habit suffices: the control.
    Known: at best 0 nats where given away (but for accidental repeats) and ln(vocabulary) elsewhere.
    Misleads: most of the mean loss under "all" is the ln(vocabulary) that nothing can lower.
    """

    state_free = True

    def __init__(
        self,
        *,
        vocabulary: int = 64,
        context: int = 64,
        batch: int = 32,
        shortest: int = 8,
        longest: int = 32,
        start: Literal["random", "zero"] = "random",
        loss_on: Literal["all", "repeats"] = "all",
    ) -> None:
        check_counts(vocabulary=vocabulary, context=context, batch=batch, shortest=shortest, longest=longest)
        if not shortest <= longest <= context // 2:
            raise BadRecipe(
                "the segment does not fit twice",
                received=f"objective.shortest {shortest}, longest {longest}, context {context}",
                allowed="shortest <= longest <= context / 2",
            )
        for name, value, allowed in (
            ("start", start, ("random", "zero")),
            ("loss_on", loss_on, ("all", "repeats")),
        ):
            if value not in allowed:
                raise BadRecipe(f"objective.{name}", received=value, allowed=", ".join(allowed))
        self.vocabulary, self.context, self.rows = vocabulary, context, batch
        self.shortest, self.longest, self.start, self.loss_on = shortest, longest, start, loss_on

    def draw(self, step: int, rng: torch.Generator) -> Draw:
        """The rows themselves, then where the segment starts and its length [sequence, context + 2]."""
        return Draw(self._rows(self.rows, self.context, self.longest, rng))

    def _rows(self, count: int, width: int, longest: int, rng: torch.Generator) -> Int[Tensor, "row item"]:
        tokens = torch.randint(self.vocabulary, (count, width), generator=rng)
        length = torch.randint(self.shortest, longest + 1, (count, 1), generator=rng)
        start = torch.randint(MANY, (count, 1), generator=rng) % (width - 2 * length + 1)
        if self.start == "zero":
            start = torch.zeros_like(start)
        position = torch.arange(width)
        copied = (position >= start + length) & (position < start + 2 * length)
        origin = torch.where(copied, position - length, position)
        return torch.cat([tokens.gather(1, origin), start, length], 1)

    def _weights(self, items: Int[Tensor, "row item"]) -> Float[Tensor, "row position"]:
        start, length = items[:, -2:-1], items[:, -1:]
        target = torch.arange(1, items.shape[1] - 2)
        if self.loss_on == "all":
            return torch.ones(len(items), len(target))
        return ((target > start + length) & (target < start + 2 * length)).float()

    def batch(self, draw: Draw, state: TrainingState, rng: torch.Generator) -> Batch:
        """`tokens` [sequence, context] and `weights` [sequence, context − 1]."""
        return {"tokens": draw.items[:, :-2], "weights": self._weights(draw.items)}

    def loss(self, model: Callable[[Tensor], Tensor], batch: Batch) -> Losses:
        return prediction_losses(model, batch["tokens"], batch["weights"])

    def facts(self) -> Self:
        return self

    def heldout(
        self, sequences: int, length: int
    ) -> tuple[Int[Tensor, "sequence token"], Float[Tensor, "sequence token"]] | None:
        """Rows of a random stream that training never reads; None if no segment fits twice."""
        if self.shortest > length // 2:
            return None
        rng = Streams(0).generator("heldout", place="copied_segments")
        items = self._rows(sequences, length, min(self.longest, length // 2), rng)
        return rows_and_weights(items[:, :-2], self._weights(items))

    def token_counts(self) -> None:
        return None

    def statistics(self) -> None:
        return None

    def word_starts(self) -> None:
        return None

    def fixed_lags(self) -> frozenset[int]:
        return frozenset({self.shortest} if self.shortest == self.longest else ())

    def beginning(self) -> None:
        return None

    def text(self, tokens: Tensor) -> str:
        return " ".join(str(int(token)) for token in tokens)

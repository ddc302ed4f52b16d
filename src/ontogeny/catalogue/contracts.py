"""What machinery may rely on in the parts that are objects: objectives, interventions, subjects."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import torch
from torch import Tensor

from ontogeny.sources import CorpusStatistics
from ontogeny.vocabulary import Draw, Losses, Place, Stimulus, TrainingState, Window

#: One batch as tensors by name; what is in it is the objective's own business.
Batch = Mapping[str, Tensor]
#: Sees a tensor at a place of a running model; what it returns (if anything) goes on in its stead.
Tap = Callable[[Place, Tensor], Tensor | None]


@runtime_checkable
class Objective(Protocol):
    """What is learned from what.

    `draw` is pure in (seed, step): `rng` is the generator of stream `data` at that step. `batch` may sample
    the policy, ask a teacher or read a buffer in the state (then `state_free` is False), with `rng` of
    stream `sampling`. `loss` gives one loss an item, calling `model(tokens)`; the trainer reduces. Held-out
    rows are never drawn.
    """

    state_free: bool
    context: int
    vocabulary: int

    def draw(self, step: int, rng: torch.Generator) -> Draw: ...
    def batch(self, draw: Draw, state: TrainingState, rng: torch.Generator) -> Batch: ...
    def loss(self, model: Callable[[Tensor], Tensor], batch: Batch) -> Losses: ...
    def facts(self) -> "DataFacts": ...


@runtime_checkable
class DataFacts(Protocol):
    """What a stimulus may know about the data of a series."""

    vocabulary: int
    context: int

    def heldout(self, sequences: int, length: int) -> tuple[Tensor, Tensor] | None:
        """Token rows never trained on and the weights of their next-token predictions, or None."""
        ...

    def token_counts(self) -> Tensor | None:
        """How often each token occurs in the training data; None where all are equally usual."""
        ...

    def statistics(self) -> CorpusStatistics | None:
        """What can be counted in the training data; None where it is made anew each step, or unknown."""
        ...

    def word_starts(self) -> Tensor | None:
        """Which tokens begin with white space [vocabulary]; None where tokens are no pieces of text."""
        ...

    def fixed_lags(self) -> frozenset[int]:
        """Repeat lengths built into training, at which a positional habit would look like induction."""
        ...

    def beginning(self) -> int | None:
        """The token every text begins with, if there is one."""
        ...

    def text(self, tokens: Tensor) -> str:
        """Tokens as a person reads them."""
        ...


class Intervention:
    """A change to training over a window of steps; override the hooks it needs, keep the rest.

    `extent` names what it may change: keys of the training state, and `draw`, `forward`, `gradients`,
    `stop`. The sham goes down the same path, makes the same writes and hook calls, and leaves every bit as
    it was. Before each draw the trainer sets `drawing`: how it was drawn, for whatever draws anew. A policy
    that wants the run to end says why in `stop`.
    """

    extent: ClassVar[frozenset[str]] = frozenset()
    window: Window = Window()
    drawing: Any = None
    stop: str = ""

    def edit_state(self, state: TrainingState, step: int) -> None:
        """Called once, before the first step of the window."""

    def on_draw(self, draw: Draw, step: int) -> Draw:
        """May replace what is drawn."""
        return draw

    @contextmanager
    def on_forward(self, state: TrainingState, step: int) -> Iterator[None]:
        """Holds while the loss of a step is computed."""
        yield

    def on_loss(self, loss: float, step: int) -> None:
        """Told every step's loss, also where nothing is applied."""

    def on_gradients(self, state: TrainingState, step: int) -> None:
        """Called after the backward pass and clipping, right before a step that the optimizer will take."""

    def on_update(self, state: TrainingState, step: int) -> None:
        """Called after the optimizer's step."""

    def telemetry(self) -> Mapping[str, float]:
        """Numbers of the step that was just taken, recorded with it under the intervention's own name."""
        return {}

    def sham(self) -> Self:
        """A twin that writes the same tensors back."""
        raise TypeError(f"{type(self).__name__} has no sham")

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Takes back what `state_dict` gave."""


class RunnableSubject(Protocol):
    """What a trial may do with a model: run it on tokens, look at sites, put something else there."""

    def run(self, tokens: Tensor, *, taps: Mapping[str, Tap] | None = None) -> Tensor:
        """Logits [sequence position vocabulary]; `taps` maps kinds of site to what looks or edits there."""
        ...

    def watching(self, taps: Mapping[str, Tap]) -> AbstractContextManager[None]:
        """The same taps for whatever runs inside the block; nothing is left behind."""
        ...


StimulusMaker = Callable[..., Stimulus]

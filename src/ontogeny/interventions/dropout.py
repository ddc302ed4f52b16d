"""Dropout for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from ontogeny.catalogue import intervention
from ontogeny.errors import BadContract
from ontogeny.interventions._acting import Acting, check
from ontogeny.models import Decoder
from ontogeny.vocabulary import TrainingState


@intervention(source="Liu et al. 2303.01500, recalled")
class dropout(Acting):
    """Dropout at `rate` inside the window, in place of the recipe's; a Decoder only.

    shape "constant" holds the rate; "linear" lets it fall from `rate` to 0 at the window's end (open: the
    recipe's). Early dropout has the window's end at 1/6 of training, late dropout its start there, over a
    recipe without dropout. Masks are drawn from the stream `dropout` of each step, which is untouched by what
    happens outside. Optimizer state: untouched.
    Known: outside the window every bit is that of a run without it, from equal weights.
    Misleads: the recorded loss inside the window is that of the thinned model, so it is higher by itself.
    """

    extent = frozenset({"forward"})

    def __init__(self, *, rate: float = 0.1, shape: Literal["constant", "linear"] = "constant") -> None:
        super().__init__()
        fine = 0 <= rate < 1 and shape in ("constant", "linear")
        check("dropout", fine, 'rate from 0, below 1; shape "constant" or "linear"', rate=rate, shape=shape)
        self.rate, self.shape = rate, shape

    @contextmanager
    def on_forward(self, state: TrainingState, step: int) -> Iterator[None]:
        model = state["model"]
        if not isinstance(model, Decoder):
            raise BadContract("dropout can be changed in a Decoder only", received=type(model).__name__)
        blocks: list[Any] = list(model.blocks)
        config, rates = model.config, [block.rate for block in blocks]
        rate = self._at(state, step)
        model.config = replace(config, dropout=config.dropout if self.inert else rate)
        for block, before in zip(blocks, rates, strict=True):
            block.rate = before if self.inert else rate
        try:
            yield
        finally:
            model.config = config
            for block, before in zip(blocks, rates, strict=True):
                block.rate = before

    def _at(self, state: TrainingState, step: int) -> float:
        if self.shape == "constant":
            return self.rate
        end = self.end(state)
        return self.rate * max(0, end - step) / max(1, end - self.window.start)

"""What each source of a mixture has given so far."""

from collections.abc import Mapping
from typing import Any

from ontogeny.sources import Mixture
from ontogeny.vocabulary import Draw, Losses


class MixtureCounters:
    """Samples and tokens by source, in the mixture's order; over all sources they are those of `Counters`."""

    def __init__(self, corpus: Mixture) -> None:
        self.corpus = corpus
        self.samples = [0] * len(corpus.sources)
        self.tokens = [0] * len(corpus.sources)

    def count(self, draw: Draw, losses: Losses) -> None:
        """Count a micro-batch, each row for the source that it was drawn from."""
        length = losses.values.numel() // max(1, len(losses.values))
        for number, rows in enumerate(self.corpus.rows_of(draw.items)):
            self.samples[number] += rows
            self.tokens[number] += rows * length

    def record(self) -> dict[str, int]:
        """The counts as telemetry: `samples/NAME`, `tokens/NAME`."""
        named = zip(self.corpus.names, self.samples, self.tokens, strict=True)
        return {
            f"{what}/{name}": count
            for name, samples, tokens in named
            for what, count in (("samples", samples), ("tokens", tokens))
        }

    def state_dict(self) -> dict[str, Any]:
        return {"samples": self.samples, "tokens": self.tokens}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.samples, self.tokens = list(state["samples"]), list(state["tokens"])

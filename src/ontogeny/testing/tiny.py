"""A tiny model, tiny data, and everything a part says of them."""

from dataclasses import replace
from functools import cache
from typing import Any

import torch
from torch import Tensor

from ontogeny.catalogue import Part
from ontogeny.catalogue import part as find
from ontogeny.evidence import WITHOUT_PASS
from ontogeny.measure.asked import asked_parts
from ontogeny.measure.checkpoint import Measured, Unit, gather, measure_checkpoint
from ontogeny.measure.compared import References
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.sources import CorpusStatistics
from ontogeny.subject import Subject
from ontogeny.vocabulary import Stimulus, Streams


class TinyFacts:
    """Data of a made-up series: 40 equally usual tokens, contexts of 40."""

    vocabulary = 40
    context = 40

    def heldout(self, sequences: int, length: int) -> tuple[Tensor, Tensor]:
        rng = Streams(1).generator("tiny")
        tokens = torch.randint(self.vocabulary, (min(sequences, 24), length), generator=rng)
        weights = torch.ones(tokens.shape)
        weights[:, -1] = 0
        return tokens, weights

    def token_counts(self) -> Tensor | None:
        return None

    def statistics(self) -> CorpusStatistics:
        """Of a made-up training stream in which tokens differ in how often, and after what, they come."""
        return _tiny_statistics(self.vocabulary)

    def word_starts(self) -> Tensor:
        """One token of three."""
        return torch.arange(self.vocabulary) % 3 == 0

    def fixed_lags(self) -> frozenset[int]:
        return frozenset()

    def beginning(self) -> int | None:
        return None

    def text(self, tokens: Tensor) -> str:
        return " ".join(map(str, tokens.tolist()))


@cache
def _tiny_statistics(vocabulary: int) -> CorpusStatistics:
    rng = Streams(1).generator("tiny", place="training")
    ways = torch.randint(vocabulary, (vocabulary, 4), generator=rng)
    stream = torch.zeros(20_000, dtype=torch.long)
    steps = torch.randint(5, (len(stream),), generator=rng)
    others = torch.randint(vocabulary, (len(stream),), generator=rng).square() // vocabulary
    for at in range(1, len(stream)):
        way = int(steps[at])
        stream[at] = others[at] if way == 4 else ways[stream[at - 1], way]
    counts = stream.bincount(minlength=vocabulary).numpy()
    return CorpusStatistics([stream.numpy()], counts, "tiny")


def tiny_subject(seed: int = 0, **changes: Any) -> Subject:
    """A decoder of two layers, width 48 (what a slope over ranks needs), four heads, random weights."""
    config = DecoderConfig(
        **{"vocabulary": 40, "context": 40, "width": 48, "layers": 2, "heads": 4, **changes}
    )
    return Subject(Decoder(config, Streams(seed).generator("tiny")).eval())


def tiny_stimulus(name: str) -> Stimulus:
    """A stimulus of the tiny data."""
    return find("stimulus", name).make(TinyFacts())


def tiny_units(made: Part) -> list[Unit]:
    """A part with every stimulus it declares, on the tiny data."""
    units = []
    for at in made.at or ("",):
        if at in WITHOUT_PASS:
            units.append(Unit(made, at, None))
        else:
            units += [Unit(made, at, tiny_stimulus(name), name) for name in made.stimuli]
    if made.options.get("layers"):
        units += [replace(unit, layers=True) for unit in units]
    return units


def tiny_references(compared: list[Unit], batch: int = 8) -> References:
    """A fresh tiny subject's evidence; of several references, that of one of another seed each."""
    names = compared[0].part.options["reference"]
    if isinstance(names, str):
        return gather(tiny_subject(), compared, batch, TinyFacts())
    return {
        name: gather(tiny_subject(seed), compared, batch, TinyFacts())
        for seed, name in enumerate(names, start=1)
    }


def measured_on(subject: Subject, made: Part, batch: int = 8) -> Measured:
    """Everything a part says of a subject; comparisons refer to what `tiny_references` gives."""
    facts = TinyFacts()
    units = [unit for one in asked_parts([made.name]) for unit in tiny_units(one.part)]
    found = measure_checkpoint(
        subject, units, lambda compared: tiny_references(compared, batch), batch, facts
    )
    found.rows = [row for row in found.rows if row["part"] == made.name]
    return found

"""A tiny model, tiny data, and everything a part says of them."""

from typing import Any

import torch
from torch import Tensor

from ontogeny.catalogue import Part
from ontogeny.catalogue import part as find
from ontogeny.evidence import WITHOUT_PASS
from ontogeny.measure.asked import asked_parts
from ontogeny.measure.checkpoint import Measured, Unit, gather, measure_checkpoint
from ontogeny.models import Decoder, DecoderConfig
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

    def fixed_lags(self) -> frozenset[int]:
        return frozenset()

    def beginning(self) -> int | None:
        return None

    def text(self, tokens: Tensor) -> str:
        return " ".join(map(str, tokens.tolist()))


def tiny_subject(**changes: Any) -> Subject:
    """A decoder of two layers, width 16, four heads, random weights."""
    config = DecoderConfig(
        **{"vocabulary": 40, "context": 40, "width": 16, "layers": 2, "heads": 4, **changes}
    )
    return Subject(Decoder(config, Streams(0).generator("tiny")).eval())


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
    return units


def measured_on(subject: Subject, made: Part, batch: int = 8) -> Measured:
    """Everything a part says of a subject; comparisons refer to a fresh tiny subject."""
    facts = TinyFacts()
    units = [unit for one in asked_parts([made.name]) for unit in tiny_units(one.part)]
    found = measure_checkpoint(
        subject, units, lambda compared: gather(tiny_subject(), compared, batch, facts), batch, facts
    )
    found.rows = [row for row in found.rows if row["part"] == made.name]
    return found

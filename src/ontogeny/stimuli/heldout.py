"""Natural text, or whatever the run is trained on, from the part it never sees."""

from torch import Tensor

from ontogeny.catalogue import DataFacts, stimulus
from ontogeny.errors import BadSource
from ontogeny.numerics.aims import previous_aim
from ontogeny.vocabulary import Reading, Status, Stimulus, Streams, undefined

FEWEST = 8


@stimulus(source="ours; instruments.md, sections 0 and 3")
def heldout(
    facts: DataFacts, *, sequences: int = 128, length: int | None = None, seed: int = 0
) -> Stimulus | Reading:
    """Rows the run never trains on: natural text for a text objective, fresh rows for a task.

    `length` defaults to the context (at most 512); where the data has fewer rows, half as many are asked for,
    down to eight. Aim `previous` points every query t ≥ 1 at key t − 1; its false lags lie in 2 … T / 2.
    `no-target` if the series names no data.
    """
    length = length or min(facts.context, 512)
    found = _rows(facts, sequences, length)
    if found is None:
        return undefined(Status.NO_TARGET, "the series names no held-out data; give a text with --text")
    tokens, weights = found
    count, length = tokens.shape
    aims = {}
    if length >= 6:
        rng = Streams(seed).generator("measurement", place="heldout")
        aims["previous"] = previous_aim(count, length, rng)
    return Stimulus("heldout", tokens, weights, aims, {"seed": seed})


def _rows(facts: DataFacts, sequences: int, length: int) -> tuple[Tensor, Tensor] | None:
    while True:
        try:
            return facts.heldout(sequences, length)
        except BadSource:
            if sequences < 2 * FEWEST:
                raise
            sequences //= 2

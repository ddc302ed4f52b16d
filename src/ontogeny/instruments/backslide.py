"""TEL-07."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ontogeny.catalogue import summary
from ontogeny.statistics.recorded import Recorded
from ontogeny.vocabulary import Reading, Summarised


@summary(
    unit="nats",
    source="tiny-Llama interval telemetry names it (definition ours)",
    family="telemetry",
    telemetry=("heldout_loss",),
)
def backslide(telemetry: pd.DataFrame) -> Iterator[Summarised]:
    """How far the validation loss stands above the best it has been.

    B_t = v_t − min_{s≤t} v_s at every evaluation; the last one is the final backslide. Of the whole course:
    `max` of B_t, and `ascent`, Σ max(0, v_t − v_{t−1}), everything it has ever risen. Evaluations without a
    finite loss are left out.

    Known: a monotone series -> 0, ascent 0; one bump of height a -> max a, ascent a, final 0.
    Misleads: noise of evaluation adds to the ascent at every evaluation, and its lowest value is a lucky one.
    """
    loss = Recorded.of(telemetry, "heldout_loss")
    if not len(loss.steps):
        return
    above = loss.values - np.minimum.accumulate(loss.values)
    for step, value, count in zip(loss.steps, above, range(1, len(above) + 1), strict=True):
        yield Summarised(Reading(float(value), n=count), int(step))
    yield Summarised(Reading(float(above.max()), n=len(above)), component="max")
    ascent = np.maximum(0, np.diff(loss.values)).sum()
    yield Summarised(Reading(float(ascent), n=len(above)), component="ascent")

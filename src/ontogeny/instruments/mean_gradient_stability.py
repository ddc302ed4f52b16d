"""TEL-06, over its window."""

from collections.abc import Iterator

import pandas as pd

from ontogeny.catalogue import summary
from ontogeny.statistics.recorded import Recorded
from ontogeny.vocabulary import Reading, Status, Summarised, undefined


@summary(
    unit="cosine",
    source="no source for the name; the cosine of successive gradients is folklore (definition ours)",
    family="telemetry",
    telemetry=("gradient_stability",),
)
def mean_gradient_stability(telemetry: pd.DataFrame, *, window: int = 50) -> Iterator[Summarised]:
    """How far successive gradients of the whole model agree, over 50 steps.

    The mean of the recorded `gradient_stability` over the last 50 steps, and `sd`, its standard deviation
    (divisor n − 1), at the end of every 50 steps and at the last. `n` says over how many records: recorded
    every 10 steps there are five.

    Known: the same gradient at every step -> 1, sd 0; an agreement that alternates by ±a -> 0,
    sd a·sqrt(50/49).
    Misleads: of few records the deviation is a rough one; and it is mostly that of the batches.
    """
    found = Recorded.of(telemetry, "gradient_stability")
    for at in found.marks(window):
        step = int(found.steps[at])
        values = found.values[: at + 1][found.steps[: at + 1] > step - window]
        yield Summarised(Reading(float(values.mean()), n=len(values)), step)
        gap = undefined(Status.N_TOO_SMALL, "one record has no deviation", n=len(values))
        spread = Reading(float(values.std(ddof=1)), n=len(values)) if len(values) > 1 else gap
        yield Summarised(spread, step, component="sd")

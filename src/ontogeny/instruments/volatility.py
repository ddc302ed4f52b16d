"""TEL-07."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view

from ontogeny.catalogue import summary
from ontogeny.statistics.recorded import Recorded
from ontogeny.vocabulary import Reading, Status, Summarised, undefined


@summary(
    unit="nats",
    source="tiny-Llama interval telemetry names it (definition ours)",
    family="telemetry",
    telemetry=("heldout_loss",),
)
def volatility(telemetry: pd.DataFrame, *, window: int = 20) -> Iterator[Summarised]:
    """How unsteadily the validation loss moves from one evaluation to the next.

    Standard deviation (divisor n − 1) of the last 20 differences v_t − v_{t−1}, at every evaluation that has
    as many before it. Evaluations without a finite loss are left out.

    Known: a linear trend -> 0; alternating by ±a -> 2a·sqrt(20/19).
    Misleads: a curve that bends is volatile without any noise; and sparser evaluations read larger.
    """
    loss = Recorded.of(telemetry, "heldout_loss")
    moves = np.diff(loss.values)
    if window < 2 or len(moves) < window:
        needed = f"{max(window, 2) + 1} evaluations are needed, {len(loss.steps)} are there"
        yield Summarised(undefined(Status.TOO_SHORT, needed, n=len(moves)))
        return
    spreads = sliding_window_view(moves, window).std(axis=1, ddof=1)
    for step, value in zip(loss.steps[window:], spreads, strict=True):
        yield Summarised(Reading(float(value), n=window), int(step))

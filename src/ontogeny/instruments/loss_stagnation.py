"""TEL-05."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ontogeny.catalogue import summary
from ontogeny.statistics.improvement import improvements, stagnation
from ontogeny.statistics.recorded import Recorded
from ontogeny.vocabulary import Reading, Status, Summarised, undefined

#: An improvement over the window below this share counts as none.
LEAST_SHARE = 1e-3


@summary(
    unit="steps",
    source="none found under this name (definition ours)",
    family="telemetry",
    telemetry=("loss",),
)
def loss_stagnation(
    telemetry: pd.DataFrame, *, least: float = 1e-3, window: int = 100, half_life: float = 50.0
) -> Iterator[Summarised]:
    """For how many steps the training loss has not improved.

    Steps since L̃ last fell more than δ = 1e-3 nats below its best, L̃ the exponential moving average of the
    training loss with a half-life of 50 steps; the best is L̃ when it last did so. `fraction`: the share of
    the last w = 100 steps at which `loss_improvement` is below 1e-3. One of each at the end of every w steps,
    and at the last.

    Known: constant loss -> all steps, fraction 1; L = L0·e^{−kt} that falls δ in each step -> 0, fraction 0.
    Misleads: a rising and a flat loss are alike; `loss_improvement` tells them apart.
    """
    loss = Recorded.of(telemetry, "loss").smooth(half_life)
    still, improved = stagnation(loss, least), improvements(loss, window)
    for at in loss.marks(window):
        step = int(loss.steps[at])
        yield Summarised(Reading(float(still[at]), n=at + 1), step)
        last = improved[: at + 1][loss.steps[: at + 1] > step - window]
        if len(last) and np.isfinite(last).all():
            reading = Reading(float((last < LEAST_SHARE).mean()), n=len(last))
        else:
            reason = f"loss_improvement is not a number at each of the last {window} steps"
            reading = undefined(Status.TOO_SHORT, reason, n=int(np.isfinite(last).sum()))
        yield Summarised(reading, step, component="fraction")

"""TEL-05."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ontogeny.catalogue import summary
from ontogeny.statistics.improvement import improvements
from ontogeny.statistics.recorded import Recorded
from ontogeny.vocabulary import Reading, Status, Summarised, undefined


@summary(
    unit="share",
    source="none found under this name (definition ours)",
    family="telemetry",
    telemetry=("loss",),
)
def loss_improvement(
    telemetry: pd.DataFrame, *, window: int = 100, half_life: float = 50.0
) -> Iterator[Summarised]:
    """Which share of its training loss a model has lost over the last 100 steps.

    (L̃_{t−w} − L̃_t) / L̃_{t−w}, w = 100, L̃ the exponential moving average of the training loss with a half-life
    of 50 steps, which begins at the first loss. One number at the end of every w steps, and at the last.

    Known: constant loss -> 0; L = L0·e^{−kt} -> 1 − e^{−kw} once the average has forgotten its beginning;
    rising loss -> below 0.
    Misleads: it is a share of the whole loss, of which the part that no model can lose may be most.
    """
    loss = Recorded.of(telemetry, "loss").smooth(half_life)
    found = improvements(loss, window)
    before = loss.earlier(window)
    for at in loss.marks(window):
        if np.isfinite(found[at]):
            yield Summarised(Reading(float(found[at]), n=window), int(loss.steps[at]))
        elif np.isnan(before[at]):
            gap = undefined(Status.TOO_SHORT, f"fewer than {window} steps were recorded before", n=at + 1)
            yield Summarised(gap, int(loss.steps[at]))
        else:
            gap = undefined(Status.NO_TARGET, "the smoothed loss is not above 0", n=at + 1)
            yield Summarised(gap, int(loss.steps[at]))

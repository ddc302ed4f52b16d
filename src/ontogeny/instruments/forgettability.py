"""TOK-01."""

from collections.abc import Iterator

import numpy as np

from ontogeny.catalogue import Course, summary
from ontogeny.numerics.smoothing import smoothed
from ontogeny.numerics.token_courses import by_token, finite_steps
from ontogeny.vocabulary import Place, Reading, Status, Stimulus, Summarised, undefined

#: Checkpoints after step 0 that a smooth curve needs; those at the end that variability is read from.
FEWEST, LAST = 5, 11
POINTS = 1000


@summary(
    unit="bits",
    source="Chang, Tu, Bergen 2308.15419 (checked)",
    family="tokens",
    stimuli=("heldout",),
)
def forgettability(
    token_loss: Course, stimulus: Stimulus, *, least: int = 8, most: int = 2000
) -> Iterator[Summarised]:
    """How much of what was learned of a token is lost again on the way.

    For each token (`token`), Σ max(0, increase) of its smoothed mean surprisal in bits over log10 step (a
    penalised spline, read on 1000 points; step 0 left out). `variability`: the standard deviation (divisor
    n − 1) of its last 11 unsmoothed surprisals. `median` and `median_variability` are over tokens. Tokens
    predicted at least `least` times, at most the `most` most frequent. Variability across seeds needs
    several runs and is not here.

    Known: a falling curve -> 0; one that falls, rises by 2 bits and falls again -> near 2 (smoothing takes
    some); a straight line -> 0.
    Misleads: noise that smoothing leaves adds up, so rarely predicted tokens look forgettable; the last 11
    checkpoints are a longer or shorter time in differently spaced series.
    """
    steps = np.asarray(token_loss.arrays().steps)
    courses = by_token(stimulus, token_loss.arrays(), least, most)
    steps, loss = finite_steps(steps, courses.loss)
    if len(steps) < FEWEST or not len(loss):
        said = f"{len(steps)} checkpoints after step 0 and {len(loss)} tokens predicted {least} times"
        yield Summarised(undefined(Status.N_TOO_SMALL, said, n=len(steps)))
        return
    x, bits = np.log10(steps), loss / np.log(2)
    curves = smoothed(x, bits, np.linspace(x[0], x[-1], POINTS))
    lost = np.maximum(np.diff(curves, axis=1), 0).sum(1)
    spread = bits[:, -LAST:].std(1, ddof=1) if len(steps) >= LAST else None
    for row in np.flatnonzero(np.isfinite(lost)):
        place = Place(token=int(courses.token[row]))
        yield Summarised(Reading(float(lost[row]), n=int(courses.times[row])), None, place)
        if spread is not None:
            yield Summarised(Reading(float(spread[row]), n=LAST), None, place, "variability")
    yield Summarised(_median(lost), component="median")
    few = undefined(Status.TOO_SHORT, f"{len(steps)} checkpoints, {LAST} are needed", n=len(steps))
    yield Summarised(few if spread is None else _median(spread), component="median_variability")


def _median(values: np.ndarray) -> Reading:
    kept = values[np.isfinite(values)]
    if not kept.size:
        return undefined(Status.NONFINITE, "no token's losses are numbers", n=0)
    return Reading(float(np.median(kept)), n=kept.size)

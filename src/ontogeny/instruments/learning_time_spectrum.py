"""TOK-02."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import Course, summary
from ontogeny.numerics.sigmoids import Sigmoids, fitted_sigmoids
from ontogeny.numerics.token_courses import finite_steps
from ontogeny.vocabulary import Reading, Status, Stimulus, Summarised, undefined

#: Checkpoints after step 0 that a curve of four parameters needs.
FEWEST = 5
#: A prediction counts as learned if its loss falls by this many nats.
LEARNED = 0.5


@summary(
    unit="R²",
    source="Wang et al. 2606.29858 (from abstract); sigmoids in log t, no interactions: definition ours",
    family="tokens",
    stimuli=("heldout",),
)
def learning_time_spectrum(
    token_loss: Course, stimulus: Stimulus, *, most: int = 16_384
) -> Iterator[Summarised]:
    """Whether the smooth fall of the loss is made of single predictions learned one after another.

    The loss of every prediction is fitted by a sigmoid over u = ln step (step 0 left out), with middle u_i,
    width w_i and amplitude A_i, positive where it falls. ρ(u) = (1/N) Σ A_i k((u − u_i) / w_i) / w_i, k the
    logistic density. The part's own number is the R² of ρ for −dL/du, the finite differences of the mean
    loss between checkpoints, ρ averaged over each interval, every interval weighed by its length in u;
    `unweighed` is R² with all intervals alike. `spectrum` and `measured` are the two at each checkpoint, for
    the interval that ends there. `spread` is the standard deviation of learning times u_i, cut to the
    measured range and weighed by how far the fit falls in it; `width` the median w_i, of which a single
    curve's own standard deviation is 1.81 times; both over predictions that fall by 0.5 nats or more;
    `share_learned` how many do. At most `most` predictions, evenly spread. From an abstract: that curves are
    sigmoids in ln t which do not interact is our assumption.

    Known: learning times with P(τ > t) = t^−0.4 -> a log–log slope of the loss of −0.40, with and without
    width. Equal curves -> spread 0.
    Misleads: R² is high for any curves that sigmoids fit, learned at once or one by one: `spread` against
    `width` tells which. Between close checkpoints −dL/du is mostly noise of training, as `unweighed` shows.
    """
    courses = token_loss.arrays()
    counted = stimulus.weights[:, :-1].flatten().numpy() > 0
    chosen = np.flatnonzero(counted)
    chosen = chosen[np.arange(min(most, len(chosen))) * len(chosen) // max(min(most, len(chosen)), 1)]
    curves = np.stack([loss.flatten().double().numpy()[chosen] for loss in courses], 1)
    steps, curves = finite_steps(np.asarray(courses.steps), curves)
    curves = curves[np.isfinite(curves).all(1)]
    if len(steps) < FEWEST or not len(curves):
        said = f"{len(steps)} checkpoints after step 0 and {len(curves)} predictions with a loss at each"
        yield Summarised(undefined(Status.N_TOO_SMALL, said, n=len(steps)))
        return
    u = np.log(steps)
    fits = fitted_sigmoids(u, curves)
    measured = -np.diff(curves.mean(0)) / np.diff(u)
    spectrum = -np.diff(fits.at(u).mean(0)) / np.diff(u)
    for step, one, other in zip(steps[1:], measured, spectrum, strict=True):
        yield Summarised(Reading(float(one), n=len(curves)), int(step), component="measured")
        yield Summarised(Reading(float(other), n=len(curves)), int(step), component="spectrum")
    weights = {"": np.diff(u), "unweighed": np.ones(len(u) - 1)}
    for name, weight in weights.items():
        yield Summarised(_explained(measured, spectrum, weight), component=name)
    yield from _shape(fits, u)


def _explained(
    measured: NDArray[np.float64], spectrum: NDArray[np.float64], weight: NDArray[np.float64]
) -> Reading:
    spread = weight @ np.square(measured - weight @ measured / weight.sum())
    if not spread > 1e-12 * (weight @ np.square(measured)):
        return undefined(Status.CONSTANT_INPUT, "the loss falls at the same rate throughout", n=len(measured))
    return Reading(float(1 - weight @ np.square(measured - spectrum) / spread), n=len(measured))


def _shape(fits: Sigmoids, u: NDArray[np.float64]) -> Iterator[Summarised]:
    first, last = fits.at(u[[0, -1]]).T
    fall = first - last
    learned = fall >= LEARNED
    n = int(learned.sum())
    yield Summarised(Reading(float(learned.mean()), n=len(learned)), component="share_learned")
    if not n:
        gap = undefined(Status.NO_TARGET, f"no prediction's loss falls by {LEARNED} nats", n=0)
        yield from (Summarised(gap, component=name) for name in ("spread", "width"))
        return
    weight, middle = fall[learned] / fall[learned].sum(), fits.middle[learned].clip(u[0], u[-1])
    spread = np.sqrt(weight @ np.square(middle - weight @ middle))
    yield Summarised(Reading(float(spread), n=n), component="spread")
    yield Summarised(Reading(float(np.median(fits.scale[learned])), n=n), component="width")

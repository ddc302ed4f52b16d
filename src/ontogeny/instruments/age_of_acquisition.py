"""TOK-01."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import Course, DataFacts, summary
from ontogeny.numerics.neighbours import rank_correlation
from ontogeny.numerics.sigmoids import fitted_sigmoids
from ontogeny.numerics.smoothing import first_crossing, smoothed
from ontogeny.numerics.token_courses import TokenCourses, by_token, finite_steps
from ontogeny.vocabulary import Place, Reading, Status, Stimulus, Summarised, undefined

#: Checkpoints after step 0 that a curve of four parameters needs.
FEWEST = 5
#: A sigmoid is believed from this R² and this many bits of amplitude on; else a spline is read.
GOOD, HIGH = 0.9, 0.5
POINTS = 1000


@summary(
    unit="log10(step)",
    source="Chang & Bergen 2110.02406; Chang, Tu, Bergen 2308.15419 (checked)",
    family="tokens",
    stimuli=("heldout",),
)
def age_of_acquisition(
    token_loss: Course, stimulus: Stimulus, facts: DataFacts, *, least: int = 8, most: int = 2000
) -> Iterator[Summarised]:
    """When in training a token comes to be predicted.

    For each token (`token`), its mean surprisal s in bits over its predictions in the stimulus, against
    x = log10 step, step 0 left out, is fitted by start + (end − start) / (1 + exp((x_mid − x) / scale)); its
    age is the x where the fit crosses ½ (log2 V + least s). Where R² < 0.9 or |start − end| < 0.5 bits (our
    rule), a penalised spline is read on 1000 points instead. A token that never comes so low has no age: it
    is counted by `unlearned`, with the last x; one already there at the first checkpoint by `at_start`, with
    the first x. Tokens predicted at least `least` times, at most the `most` most frequent. Of the whole
    course: `median` and the shares `share_unlearned`, `share_at_start`, `share_sigmoid` (ages read off a
    fit), and `with_frequency`, Spearman's correlation of age and training count, where counts are known.

    Known: a noise-free sigmoid -> its crossing to 1e-3; chance is log2 50257 = 15.617 bits; a constant
    curve at chance -> unlearned.
    Misleads: the middle between chance and the least surprisal is reached early by frequent tokens merely
    because their frequency is learned; ages before the first checkpoint cannot be told.
    """
    steps = np.asarray(token_loss.arrays().steps)
    courses = by_token(stimulus, token_loss.arrays(), least, most)
    steps, loss = finite_steps(steps, courses.loss)
    if len(steps) < FEWEST or not len(loss):
        said = f"{len(steps)} checkpoints after step 0 and {len(loss)} tokens predicted {least} times"
        yield Summarised(undefined(Status.N_TOO_SMALL, said, n=len(steps)))
        return
    bits = loss / np.log(2)
    age, kind = _ages(np.log10(steps), bits, np.log2(facts.vocabulary))
    for component, code in (("", ACQUIRED), ("unlearned", UNLEARNED), ("at_start", AT_START)):
        for row in np.flatnonzero(np.isin(kind, code)):
            place = Place(token=int(courses.token[row]))
            yield Summarised(Reading(float(age[row]), n=int(courses.times[row])), None, place, component)
    yield from _overall(age, kind, courses, facts)


BROKEN, UNLEARNED, AT_START, BY_SIGMOID, BY_SPLINE = range(5)
ACQUIRED = (BY_SIGMOID, BY_SPLINE)


def _ages(x: NDArray[np.float64], bits: NDArray[np.float64], chance: float) -> tuple[np.ndarray, np.ndarray]:
    """Age of every curve [token], and how it was read."""
    whole = np.isfinite(bits).all(1)
    age, kind = np.full(len(bits), np.nan), np.full(len(bits), BROKEN)
    curves = bits[whole]
    level = (chance + curves.min(1)) / 2
    fits = fitted_sigmoids(x, curves)
    at = np.linspace(x[0], x[-1], POINTS)
    good = (fits.fit >= GOOD) & (np.abs(fits.end - fits.start) >= HIGH)
    read = np.where(good[:, None], fits.at(at), smoothed(x, curves, at))
    crossed = first_crossing(at, read, level)
    exact = np.where(good, fits.crossing(level), np.nan)
    inside = np.isfinite(exact) & (exact >= x[0]) & (exact <= x[-1])
    found = np.where(inside, exact, crossed)
    how = np.where(good, BY_SIGMOID, BY_SPLINE)
    how = np.where(np.isnan(crossed), UNLEARNED, np.where(read[:, 0] <= level, AT_START, how))
    found = np.where(how == UNLEARNED, x[-1], np.where(how == AT_START, x[0], found))
    age[whole], kind[whole] = found, how
    return age, kind


def _overall(
    age: NDArray[np.float64], kind: NDArray[np.int64], courses: TokenCourses, facts: DataFacts
) -> Iterator[Summarised]:
    told = kind != BROKEN
    n = int(told.sum())
    if not n:
        yield Summarised(
            undefined(Status.NONFINITE, "no token's losses are numbers", n=0), component="median"
        )
        return
    yield Summarised(Reading(float(np.median(age[told])), n=n), component="median")
    acquired = np.isin(kind, ACQUIRED)
    for name, members in (("unlearned", kind == UNLEARNED), ("at_start", kind == AT_START)):
        yield Summarised(Reading(float(members.sum() / n), n=n), component=f"share_{name}")
    if acquired.any():
        share = float((kind == BY_SIGMOID).sum() / acquired.sum())
        yield Summarised(Reading(share, n=int(acquired.sum())), component="share_sigmoid")
    yield Summarised(_with_frequency(age[told], courses.token[told], facts), component="with_frequency")


def _with_frequency(age: NDArray[np.float64], token: NDArray[np.int64], facts: DataFacts) -> Reading:
    known = facts.statistics()
    if known is None:
        return undefined(Status.NOT_OBSERVABLE, "how often tokens occur in training is not known")
    value = rank_correlation(age, known.counts[token].astype(float))
    return Reading(value, n=len(age), status=Status.CONSTANT_INPUT, reason="all ages or counts are equal")

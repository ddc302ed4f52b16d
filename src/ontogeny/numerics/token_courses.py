"""Losses of single predictions over training, gathered by what was predicted."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ontogeny.vocabulary import Stimulus

Floats = NDArray[np.float64]


class TokenCourses(NamedTuple):
    """Mean losses [token step] in nats of the tokens (ids, ascending) that are predicted often enough."""

    token: NDArray[np.int64]
    times: NDArray[np.int64]
    loss: Floats


def by_token(stimulus: Stimulus, losses: Iterable[Tensor], least: int, most: int) -> TokenCourses:
    """The mean over a token's predictions at every step; the `most` most often predicted tokens, if they are
    predicted at least `least` times. Predictions without weight do not count."""
    counted = stimulus.weights[:, :-1].numpy() > 0
    targets = stimulus.tokens[:, 1:].numpy()[counted]
    if not targets.size:
        return TokenCourses(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 0)))
    times = np.bincount(targets)
    chosen = np.argsort(-times, kind="stable")[:most]
    chosen = np.sort(chosen[times[chosen] >= least])
    columns = []
    for loss in losses:
        total = np.bincount(targets, weights=loss.double().numpy()[counted], minlength=len(times))
        columns.append(total[chosen] / times[chosen])
    return TokenCourses(chosen, times[chosen], np.stack(columns, 1))


def finite_steps(steps: NDArray[np.int64], curves: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Steps after 0 at which not every curve is broken, and the curves there."""
    kept = (steps > 0) & (np.isfinite(curves).any(0) if len(curves) else np.ones(len(steps), bool))
    return steps[kept], curves[:, kept]

"""Over all statistics of runs: poor input gives a number, a status with its reason, or a refusal.

Never a warning, a traceback of numpy's, or a NaN without a word.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ontogeny.errors import BadArgument
from ontogeny.statistics.arms import arm_effects
from ontogeny.statistics.arrangements import label_arrangements, sign_arrangements
from ontogeny.statistics.confidence_sequence import asymptotic_sequence, bernstein_sequence
from ontogeny.statistics.equivalence import equivalence
from ontogeny.statistics.false_discovery import false_discovery
from ontogeny.statistics.intervals import t_interval
from ontogeny.statistics.item_changes import Answers, item_changes
from ontogeny.statistics.max_statistic import max_statistic
from ontogeny.statistics.mcnemar import mcnemar
from ontogeny.statistics.mean_of_series import mean_of_series
from ontogeny.statistics.paired import paired_effects
from ontogeny.statistics.repeated_measures import repeated_measures
from ontogeny.statistics.seeds import seeds_to_show
from ontogeny.statistics.sequential_evaluation import sequential_evaluation
from ontogeny.statistics.two_level_bootstrap import two_level_bootstrap
from ontogeny.vocabulary import Reading

#: Numbers of runs [run point], in [0, 1] so that they are scores, too.
RUNS: dict[str, NDArray] = {
    "constant": np.full((6, 5), 0.25),
    "no run": np.empty((0, 5)),
    "no point": np.empty((6, 0)),
    "one run": np.linspace(0, 1, 5)[None],
    "one point": np.linspace(0, 1, 6)[:, None],
    "a NaN inside": np.where(np.eye(6, 5) > 0, np.nan, np.linspace(0, 1, 30).reshape(6, 5)),
    "all NaN": np.full((6, 5), np.nan),
    "an infinity": np.where(np.eye(6, 5) > 0, np.inf, np.linspace(0, 1, 30).reshape(6, 5)),
    "ties": np.repeat([[0.0, 1, 0, 1, 1], [1.0, 0, 0, 1, 0]], 3, axis=0),
    "two identical runs": np.tile(np.linspace(0, 1, 5), (2, 1)),
    "two runs": np.array([[0.1, 0.4, 0.3, 0.9, 0.2], [0.3, 0.1, 0.8, 0.5, 0.6]]),
    "tiny": np.linspace(0, 1, 30).reshape(6, 5) * 1e-300,
}


def halves(runs: NDArray) -> tuple[NDArray, NDArray]:
    return runs[: len(runs) // 2], runs[len(runs) // 2 :]


def permuted(runs: NDArray) -> Any:
    labels = np.arange(len(runs)) % 2
    means = lambda of: np.array([runs[of == 1].sum(0), runs[of == 0].sum(0)])
    return max_statistic(lambda of: np.subtract(*means(of)), label_arrangements(labels))


def counted(runs: NDArray) -> Any:
    right = np.nan_to_num(runs, posinf=1).round().astype(int)
    before, after = halves(right)
    asked = [np.full(right.shape[1], max(1, len(half))) for half in (before, after)]
    return item_changes(Answers(before.sum(0), asked[0]), Answers(after.sum(0), asked[1]))


STATISTICS: dict[str, Callable[[NDArray], Any]] = {
    "arm_effects": lambda runs: arm_effects(*halves(runs)),
    "asymptotic_sequence": asymptotic_sequence,
    "bernstein_sequence": bernstein_sequence,
    "equivalence": lambda runs: equivalence(*halves(runs.mean(1) if runs.size else runs[:, :1].ravel())),
    "equivalence, paired": lambda runs: equivalence(runs[:1].ravel(), runs[1:2].ravel(), paired=True),
    "false_discovery": lambda runs: false_discovery(np.where(np.isinf(runs), 1, runs)),
    "item_changes": counted,
    "max_statistic": permuted,
    "max_statistic, signs": lambda runs: max_statistic(lambda s: s @ runs, sign_arrangements(len(runs))),
    "mcnemar": lambda runs: mcnemar(int((runs > 0.5).sum()), int((runs < 0.5).sum())),
    "mean_of_series": lambda runs: mean_of_series([(np.arange(len(run)), run) for run in runs]),
    "paired_effects": paired_effects,
    "repeated_measures": repeated_measures,
    "seeds_to_show": lambda runs: seeds_to_show(float(runs.sum()), 0.1, len(runs)),
    "sequential_evaluation": lambda runs: sequential_evaluation(
        lambda items: list(items), runs.ravel().tolist(), 0.1
    ),
    "t_interval": lambda runs: t_interval(runs.ravel()),
    "two_level_bootstrap": lambda runs: two_level_bootstrap(runs, draws=50),
    "two_level_bootstrap, percentile": lambda runs: two_level_bootstrap(runs, draws=50, method="percentile"),
    "two_level_bootstrap, BCa": lambda runs: two_level_bootstrap(runs, draws=50, method="BCa"),
}


def readings(found: Any) -> Iterator[Reading]:
    if isinstance(found, Reading):
        yield found
    elif isinstance(found, list | tuple):
        for one in found:
            yield from readings(one)
    elif dataclasses.is_dataclass(found):
        for field in dataclasses.fields(found):
            yield from readings(getattr(found, field.name))


def assert_told(refused: BadArgument) -> None:
    assert refused.what
    assert refused.received is not None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("runs", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
def test_poor_input_is_answered_in_words(statistic, runs):
    with np.errstate(all="raise", under="ignore"):
        try:
            found = statistic(runs)
        except BadArgument as refused:
            assert_told(refused)
            return
    for reading in readings(found):
        if math.isnan(float(reading.value)):
            assert reading.reason, reading
        else:
            assert math.isfinite(float(reading.value))
        for limit in (reading.low, reading.high):
            assert limit is None or math.isfinite(float(limit)), reading
        if reading.low is not None and reading.high is not None:
            assert reading.low <= reading.high

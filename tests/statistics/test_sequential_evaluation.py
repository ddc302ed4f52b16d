"""STA-07: stop asking when the score is known well enough."""

import numpy as np
import pytest

from ontogeny.errors import BadArgument
from ontogeny.statistics.sequential_evaluation import sequential_evaluation

RIGHT = (np.random.default_rng(0).uniform(size=4000) < 0.95).astype(float)


def scores(items):
    return [RIGHT[item] for item in items]


def test_it_stops_when_the_interval_is_narrow():
    found = sequential_evaluation(scores, range(4000), 0.08)
    assert found.narrow
    assert 300 < found.score.n < 700
    assert found.score.high - found.score.low <= 0.08
    assert found.score.low <= RIGHT.mean() <= found.score.high
    assert found.looks[-1] == found.score.n == len(found.asked) == len(found.scores)
    assert len(set(found.asked)) == len(found.asked)
    assert found.scores.tolist() == scores(found.asked)
    assert found.high[-2] - found.low[-2] > 0.08, "it could have stopped before"


def test_asking_all_of_them_is_exact():
    found = sequential_evaluation(scores, range(120), 0.0)
    assert found.score.n == 120
    assert found.score.value == found.score.low == found.score.high == RIGHT[:120].mean()
    assert found.narrow
    endless = sequential_evaluation(scores, range(120), 0.0, these=False)
    assert endless.score.n == 120
    assert not endless.narrow
    assert endless.score.low < endless.score.value < endless.score.high


def test_what_is_left_possible_only_shrinks():
    found = sequential_evaluation(scores, range(4000), 0.05)
    assert (np.diff(found.low) >= 0).all()
    assert (np.diff(found.high) <= 0).all()


def test_batches_and_a_limit():
    sizes = []

    def ask(items):
        sizes.append(len(items))
        return scores(items)

    found = sequential_evaluation(ask, range(4000), 0.01, batch=32, most=100)
    assert sizes == [32, 32, 32, 4]
    assert (found.score.n, found.narrow) == (100, False)


def test_graded_scores_need_fewer_items_where_they_vary_less():
    graded = np.random.default_rng(1).beta(40, 20, 4000)
    found = sequential_evaluation(lambda items: graded[np.array(items)], range(4000), 0.08)
    halves = sequential_evaluation(lambda items: [item % 2 for item in items], range(4000), 0.08)
    assert found.score.n < halves.score.n / 3
    assert found.score.low <= graded.mean() <= found.score.high


def test_a_difference_of_two_models_is_asked_in_pairs():
    rng = np.random.default_rng(3)
    before = (rng.uniform(size=3000) < 0.6).astype(float)
    after = np.where(rng.uniform(size=3000) < 0.1, 1 - before, before)
    both = (1 + after - before) / 2
    found = sequential_evaluation(lambda items: both[np.array(items)], range(3000), 0.05)
    low, high = 2 * found.score.low - 1, 2 * found.score.high - 1
    assert low <= (after - before).mean() <= high <= low + 0.1 + 1e-12
    alone = sequential_evaluation(lambda items: after[np.array(items)], range(3000), 0.05)
    assert found.score.n < alone.score.n / 2


def test_the_interval_holds_although_it_stopped_early():
    rng, missed = np.random.default_rng(2), 0
    for seed in range(150):
        right = (rng.uniform(size=300) < 0.8).astype(float)
        found = sequential_evaluation(
            lambda items, right=right: right[np.array(items)], range(300), 0.3, seed=seed
        )
        missed += not found.score.low <= right.mean() <= found.score.high
    assert missed / 150 <= 0.06


def test_no_items_and_no_number():
    assert sequential_evaluation(scores, [], 0.1).score.status == "no-target"
    assert sequential_evaluation(scores, range(9), 0.1, most=0).score.status == "no-target"
    broken = sequential_evaluation(lambda items: [np.nan for _ in items], range(9), 0.1)
    assert (broken.score.status, broken.score.n, broken.narrow) == ("nonfinite", 1, False)
    assert f"item {broken.asked[0]}" in broken.score.reason
    assert sequential_evaluation(scores, range(9), 1.0).score.status == "no-target", "known without asking"


def test_contradicting_looks_are_said(monkeypatch):
    """Items in random order contradict their own interval with a chance of alpha; here they are made to."""
    monkeypatch.setattr(np.random, "default_rng", lambda seed: Unshuffled())
    easy_first = [float(item < 300) for item in range(3000)]
    found = sequential_evaluation(lambda items: [easy_first[i] for i in items], range(3000), 0.0, these=False)
    assert (found.score.status, found.narrow) == ("unconverged", False)


class Unshuffled:
    def permutation(self, count: int) -> np.ndarray:
        return np.arange(count)


@pytest.mark.parametrize("answer", [[1.5], [-0.1], [0.5, 0.5], []])
def test_an_answer_that_is_no_score(answer):
    with pytest.raises(BadArgument):
        sequential_evaluation(lambda items: answer, range(9), 0.1)


@pytest.mark.parametrize("wrong", [{"batch": 0}, {"alpha": 1.0}, {"width": -0.1}])
def test_what_cannot_be_asked(wrong):
    with pytest.raises(BadArgument, match="cannot be asked"):
        sequential_evaluation(scores, range(9), **{"width": 0.1, **wrong})

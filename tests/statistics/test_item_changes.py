"""Items gained and lost: exact tests, against scipy and against a truth that was made."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ontogeny.errors import BadArgument
from ontogeny.statistics.item_changes import Answers, item_changes


def answers(right, asked) -> Answers:
    right = np.asarray(right)
    return Answers(right, np.full(right.shape, asked))


def test_p_is_scipys():
    rng = np.random.default_rng(0)
    before, after = (answers(rng.integers(0, n + 1, 60), n) for n in (7, 9))
    found = item_changes(before, after, alpha=1.0)
    for item in range(60):
        table = [[before.right[item], 7 - before.right[item]], [after.right[item], 9 - after.right[item]]]
        assert found.p[item] == pytest.approx(stats.fisher_exact(table).pvalue)


def test_five_of_five_and_what_cannot_change_is_not_counted():
    found = item_changes(answers([0, 5, 0, 5, 3], 5), answers([5, 0, 0, 5, 3], 5))
    assert found.p[:2] == pytest.approx([2 / 252] * 2)
    assert found.tested == 3, "always wrong and always right are left out before the tests are counted"
    assert np.isnan(found.q[2:4]).all()
    assert found.q[:2] == pytest.approx([2 / 252 * 3 / 2] * 2)
    assert found.gained.tolist() == [True, False, False, False, False]
    assert found.lost.tolist() == [False, True, False, False, False]
    assert found.net.value == 0


def truth(seed: int, items: int = 2000, replicates: int = 6):
    """5 % of the items are truly gained, 3 % truly lost; a fifth of the others flickers."""
    rng = np.random.default_rng(seed)
    before = rng.choice([0.0, 1.0, 0.5], items, p=[0.4, 0.4, 0.2])
    after = before.copy()
    after[:100], before[:100] = 0.98, 0.02
    after[100:160], before[100:160] = 0.02, 0.98
    return [(rng.random((items, replicates)) < chance[:, None]) for chance in (before, after)]


def test_what_is_told_from_noise_is_true_and_the_plain_list_is_not():
    before, after = truth(0)
    found = item_changes(answers(before.sum(1), 6), answers(after.sum(1), 6))
    true = np.arange(2000) < 100
    assert found.gained[true].mean() > 0.85
    assert (found.gained & ~true).sum() <= 0.1 * found.gained.sum()
    assert found.lost[100:160].mean() > 0.85
    plain = ~before[:, 0] & after[:, 0]
    false = (plain & ~true).sum()
    assert false > 70, "the plain list is full of items that flicker"
    assert false == pytest.approx(found.by_chance.value, rel=0.25)
    assert found.by_chance.low < found.by_chance.value < found.by_chance.high
    assert found.listed[0] == pytest.approx(plain.sum(), rel=0.2)
    assert found.flips[0].value == pytest.approx(0.2 * 0.92 * 0.5 + 0.08 * 2 * 0.02 * 0.98, abs=0.02)


def test_by_chance_is_the_mean_of_all_pairs_of_evaluations():
    before, after = truth(1, items=50, replicates=4)
    found = item_changes(answers(before.sum(1), 4), answers(after.sum(1), 4))
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    counts = [np.mean([(~side[:, i] & side[:, j]).sum() for i, j in pairs]) for side in (before, after)]
    assert found.by_chance.value == pytest.approx(np.mean(counts))
    every = [(~before[:, i] & after[:, j]).sum() for i in range(4) for j in range(4)]
    assert found.listed[0] == pytest.approx(np.mean(every))


def test_a_model_against_itself_gains_nothing():
    claims = 0
    for seed in range(40):
        right = np.random.default_rng(seed).binomial(8, 0.5, (2, 300))
        found = item_changes(answers(right[0], 8), answers(right[1], 8))
        claims += bool(found.gained.any() or found.lost.any())
        assert found.listed[0] == pytest.approx(found.by_chance.value, rel=0.1)
    assert claims <= 6


def test_one_evaluation_each_tells_no_item():
    found = item_changes(answers([0, 1, 1], 1), answers([1, 1, 0], 1))
    assert not found.gained.any()
    assert np.isnan(found.p).all()
    assert "one evaluation each: single items cannot be told from noise; 4 evaluations" in found.refusal
    assert found.by_chance.status == found.flips[0].status == "n-too-small"
    assert found.listed == (1, 1)


def test_three_evaluations_are_refused_with_the_number_that_could():
    found = item_changes(answers([0, 3], 3), answers([3, 0], 3))
    assert "3 to 3 evaluations: no item can be told from noise; 4 evaluations of each" in found.refusal
    assert found.by_chance.value == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (answers([1], 1), answers([1, 2], 2)),
        (Answers(np.array([1, 1]), np.array([2])), answers([1], 2)),
        (answers([3], 2), answers([1], 2)),
        (answers([-1], 2), answers([1], 2)),
        (answers([0], 0), answers([1], 2)),
    ],
)
def test_impossible_counts(before, after):
    with pytest.raises(BadArgument, match="same items"):
        item_changes(before, after)


def test_nothing_and_equal():
    none = item_changes(answers([], 2), answers([], 2))
    assert none.refusal == "no item was asked of both models"
    assert none.net.status == "no-target"
    equal = item_changes(answers([4, 4], 4), answers([4, 4], 4))
    assert (equal.tested, equal.by_chance.value, equal.net.value) == (0, 0, 0)
    assert equal.refusal


def test_terms_of_arithmetic_in_a_real_series(shared_data):
    """Right answers of 50 to each of 200 terms at 5 numbers of shots: early, late and at the end of a series.

    Terms were gained over the whole training; between its last two evaluations, where a plain list has dozens
    of changes, not one is told from noise.
    """
    (file,) = (shared_data / "pythia-evals" / "term-frequency").glob("*.csv")
    table = pd.read_csv(file).set_index(["task", "fewshot"]).sort_index()
    shares = {step: table[table["checkpoint"] == step]["acc"] for step in (13000, 117000, 143000)}
    early, late, end = (answers((one * 50).round().astype(int).to_numpy(), 50) for one in shares.values())
    whole, last = item_changes(early, end), item_changes(late, end)
    assert len(whole.p) == 1000
    assert (whole.gained.sum(), whole.lost.sum()) == (8, 1)
    assert whole.net.low > 0
    assert (end.right > late.right).sum() > 20
    assert (end.right < late.right).sum() > 20
    assert not (last.gained | last.lost).any()
    assert last.net.low < 0 < last.net.high
    assert last.listed[0] == pytest.approx(last.by_chance.value, rel=0.05)

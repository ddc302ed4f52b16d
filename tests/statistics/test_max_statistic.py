"""STA-01: the whole pipeline again under every arrangement, held against the largest."""

import numpy as np
import pytest
from scipy import stats

from ontogeny.errors import BadArgument
from ontogeny.statistics import max_statistic as module
from ontogeny.statistics.arrangements import label_arrangements, sign_arrangements
from ontogeny.statistics.max_statistic import max_statistic
from ontogeny.statistics.paired import sign_flip_p

LABELS = np.repeat([0, 1], 5)


def difference(values):
    """Mean differences between the arms [test], on the scale of the whole sd."""
    scale = np.where(values.std(0) > 0, values.std(0), 1)
    return lambda labels: (values[labels == 1].mean(0) - values[labels == 0].mean(0)) / scale


def values_of(readings) -> list[float]:
    return [float(reading.value) for reading in readings]


def test_alone_it_is_scipys_permutation_test():
    values = np.random.default_rng(0).normal(size=(10, 3)) + LABELS[:, None]
    found = max_statistic(difference(values), label_arrangements(LABELS))
    for test, p in enumerate(values_of(found.alone)):
        expected = stats.permutation_test(
            (values[LABELS == 1, test], values[LABELS == 0, test]),
            lambda x, y: abs(x.mean() - y.mean()),
            alternative="greater",
            n_resamples=np.inf,
        )
        assert p == pytest.approx(expected.pvalue)
    assert max(values_of(found.alone)) <= 1
    assert all(f >= a for f, a in zip(values_of(found.p), values_of(found.alone), strict=True))


def test_arms_that_are_apart_reach_the_smallest_p_and_equal_units_none():
    values = np.column_stack([LABELS + np.linspace(0, 0.1, 10), np.ones(10)])
    found = max_statistic(difference(values), label_arrangements(LABELS))
    assert values_of(found.p) == [2 / 252, 1]
    assert (found.arrangements, found.complete) == (252, True)


def test_the_sign_flip_form_is_that_of_paired_runs():
    x = np.random.default_rng(1).normal(0.4, 1, (8, 4))
    scale = np.sqrt(np.square(x).sum(0))
    found = max_statistic(lambda signs: signs @ x / scale, sign_arrangements(8), batched=True)
    alone, family = sign_flip_p(x)
    assert values_of(found.alone) == pytest.approx(alone)
    assert values_of(found.p) == pytest.approx(family)


def test_what_was_chosen_is_chosen_again():
    """The best of 40 null tests is not a finding; without choosing again it would be one."""
    values = np.random.default_rng(7).normal(size=(10, 40))
    each = difference(values)
    chosen = int(np.abs(each(LABELS)).argmax())
    honest = max_statistic(lambda labels: np.abs(each(labels)).max(), label_arrangements(LABELS))
    fooled = max_statistic(lambda labels: each(labels)[chosen], label_arrangements(LABELS))
    assert values_of(fooled.p)[0] < 0.05 < values_of(honest.p)[0]
    assert values_of(honest.p)[0] == pytest.approx(
        values_of(max_statistic(each, label_arrangements(LABELS)).p)[chosen]
    )


def test_step_down_is_westfall_and_youngs():
    values = np.random.default_rng(3).normal(size=(10, 4)) + np.outer(LABELS, [2.0, 1.5, 0.5, 0])
    statistic, arrangements = difference(values), label_arrangements(LABELS)
    null = np.abs([statistic(row) for row in arrangements.each])
    seen = np.abs(statistic(LABELS))
    expected, before = np.empty(4), 0.0
    order = np.argsort(-seen)
    for rank, test in enumerate(order):
        before = max(before, (null[:, order[rank:]].max(1) >= seen[test] - 1e-9).mean())
        expected[test] = before
    found = max_statistic(statistic, arrangements, step_down=True)
    assert values_of(found.p) == pytest.approx(expected)
    single = max_statistic(statistic, arrangements)
    assert all(d <= s for d, s in zip(values_of(found.p), values_of(single.p), strict=True))


def test_family_wise_error_is_alpha():
    rng = np.random.default_rng(4)
    arrangements = label_arrangements(LABELS)
    first = np.where(arrangements.each == 1, 0.2, -0.2)

    def smallest(step_down: bool) -> float:
        values = rng.normal(size=(10, 6))
        values /= values.std(0)
        found = max_statistic(
            lambda labels: first @ values if len(labels) > 1 else first[:1] @ values,
            arrangements,
            batched=True,
            step_down=step_down,
        )
        return min(values_of(found.p))

    for step_down in (False, True):
        claimed = np.mean([smallest(step_down) <= 0.05 for _ in range(400)])
        assert claimed == pytest.approx(0.05, abs=0.03)


def test_one_sided_counts_larger_only():
    values = np.column_stack([LABELS, -LABELS]) + np.linspace(0, 0.1, 10)[:, None]
    found = max_statistic(difference(values), label_arrangements(LABELS), two_sided=False)
    assert values_of(found.alone) == [1 / 252, 1]


def test_too_few_units_are_refused_and_the_statistic_stays():
    labels = [0, 0, 0, 1, 1, 1]
    found = max_statistic(difference(np.arange(6.0)[:, None]), label_arrangements(labels))
    assert {reading.status for reading in (*found.p, *found.alone)} == {"n-too-small"}
    assert "needs 4 in each of two arms" in found.p[0].reason
    assert found.observed[0] > 1
    loose = max_statistic(difference(np.arange(6.0)[:, None]), label_arrangements(labels), alpha=0.1)
    assert values_of(loose.p) == [0.1]


def test_an_undefined_statistic_says_so_and_spoils_no_other():
    values = np.random.default_rng(5).normal(size=(10, 2)) + LABELS[:, None]
    beside = np.column_stack([values, np.full(10, np.nan)])
    with np.errstate(invalid="ignore"):
        found = max_statistic(difference(beside), label_arrangements(LABELS))
    alone = max_statistic(difference(values), label_arrangements(LABELS))
    assert values_of(found.p)[:2] == values_of(alone.p)
    assert (found.p[2].status, found.p[2].reason) == ("nonfinite", "the observed statistic is nan")


def test_an_undefined_draw_counts_against_the_claim():
    plain = difference((LABELS + np.linspace(0, 0.1, 10))[:, None])
    swapped = 1 - LABELS

    def breaking(labels):
        return (
            np.array([np.nan])
            if np.array_equal(labels, np.r_[0, 1, 0, 0, 0, 0, 1, 1, 1, 1])
            else plain(labels)
        )

    found = max_statistic(breaking, label_arrangements(LABELS))
    assert values_of(found.p) == [3 / 252]
    assert values_of(max_statistic(plain, label_arrangements(swapped)).p) == [2 / 252]


def test_blocks_leave_no_trace(monkeypatch):
    values = np.random.default_rng(6).normal(size=(10, 3))
    whole = max_statistic(difference(values), label_arrangements(LABELS), step_down=True)
    monkeypatch.setattr(module, "AT_ONCE", 100)
    again = max_statistic(difference(values), label_arrangements(LABELS), step_down=True)
    assert values_of(whole.p) == values_of(again.p)


def test_a_statistic_of_changing_shape_is_refused():
    with pytest.raises(BadArgument, match="same tests"):
        max_statistic(lambda labels: np.zeros(1 + labels[0]), label_arrangements(LABELS))
    with pytest.raises(BadArgument, match="same tests"):
        max_statistic(lambda labels: np.zeros(3), label_arrangements(LABELS), batched=True)

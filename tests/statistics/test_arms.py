"""Two arms of unpaired runs: Welch's interval, exact p, seeds."""

import numpy as np
import pytest
from scipy import stats

from ontogeny.errors import BadArgument
from ontogeny.statistics.arms import arm_effects
from ontogeny.statistics.seeds import seeds_needed


def arms(seed: int, n: int, m: int, shift: float, tests: int = 1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, tests)), rng.normal(shift, 2, size=(m, tests))


def test_effect_and_interval_are_welchs():
    control, treatment = arms(0, 6, 9, 1.5)
    theirs = stats.ttest_ind(treatment[:, 0], control[:, 0], equal_var=False)
    expected = theirs.confidence_interval(0.95)
    found = arm_effects(control, treatment)[0]
    assert found.effect.value == pytest.approx(treatment.mean() - control.mean())
    assert [found.effect.low, found.effect.high] == pytest.approx([expected.low, expected.high])
    assert found.effect.n == 15


def test_p_is_scipys_and_the_family_pays():
    control, treatment = arms(1, 5, 5, 2.0, tests=4)
    found = arm_effects(control, treatment)
    for test, one in enumerate(found):
        theirs = stats.permutation_test(
            (treatment[:, test], control[:, test]),
            lambda x, y: abs(x.mean() - y.mean()),
            alternative="greater",
            n_resamples=np.inf,
        )
        assert one.p.value == pytest.approx(theirs.pvalue)
        assert one.p_family.value >= one.p.value


def test_three_an_arm_show_an_effect_and_no_p():
    found = arm_effects(np.array([[0.0], [0.1], [0.2]]), np.array([[5.0], [5.1], [5.2]]))[0]
    assert found.effect.value == pytest.approx(5)
    assert found.p.status == found.p_family.status == "n-too-small"
    assert "needs 4 in each of two arms" in found.p.reason
    assert found.seeds.value == 4


def test_claims_divide_alpha():
    control, treatment = arms(2, 4, 4, 3.0)
    assert arm_effects(control, treatment)[0].p.value > 0
    assert arm_effects(control, treatment, claims=2)[0].p.status == "n-too-small"


def test_f81_one_run_an_arm_gives_an_effect_and_no_p():
    found = arm_effects(np.array([[1.0]]), np.array([[1.5]]))[0]
    assert (found.effect.value, found.effect.low) == (0.5, None)
    assert found.p.status == found.seeds.status == "n-too-small"
    assert "6 at 2, 17 at 1, 64 at 0.5" in found.seeds.reason


def test_seeds_of_a_long_pilot():
    control, treatment = arms(3, 40, 40, 1.0)
    pooled = np.sqrt((control.var(ddof=1) + treatment.var(ddof=1)) / 2)
    size = float(abs(treatment.mean() - control.mean()) / pooled)
    assert arm_effects(control, treatment)[0].seeds.value == seeds_needed(size)


def test_equal_runs_and_missing_numbers():
    equal = arm_effects(np.ones((5, 1)), np.ones((5, 1)))[0]
    assert (equal.effect.value, equal.effect.low, equal.p.value) == (0, 0, 1)
    assert equal.seeds.status == "no-target"
    assert "no arm shows any spread" in equal.effect.reason
    control, treatment = arms(4, 5, 6, 0.0, tests=2)
    control[:, 1] = np.nan
    treatment[0, 0] = np.nan
    found = arm_effects(control, treatment)
    assert found[0].effect.n == 10
    assert found[0].effect.value == pytest.approx(treatment[1:, 0].mean() - control[:, 0].mean())
    assert 0 < found[0].p.value <= 1
    assert {one.status for one in (found[1].effect, found[1].p, found[1].seeds)} == {"no-target"}


def test_tiny_numbers_are_numbers():
    control, treatment = arms(5, 5, 5, 3.0)
    plain, tiny = arm_effects(control, treatment)[0], arm_effects(control * 1e-200, treatment * 1e-200)[0]
    assert tiny.p.value == plain.p.value


def test_shapes_are_checked():
    with pytest.raises(BadArgument, match="same tests"):
        arm_effects(np.ones((3, 2)), np.ones((3, 1)))

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.numerics.similarity import biased_cka, cka_of_sums, debiased_cka, hsic_sums
from ontogeny.vocabulary import Status

torch.set_num_threads(1)


def gaussian(rows, columns, seed):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def rotated(values, seed=9):
    return values @ torch.linalg.qr(gaussian(values.shape[1], values.shape[1], seed))[0]


def hsic_by_definition(here, there):
    """HSIC₁ of SPE-07 written down as it stands: n×n kernels with zero diagonals."""
    n, one = len(here), torch.ones(len(here), dtype=torch.float64)
    k, ell = here @ here.mT, there @ there.mT
    k.fill_diagonal_(0)
    ell.fill_diagonal_(0)
    middle = (one @ k @ one) * (one @ ell @ one) / ((n - 1) * (n - 2))
    return (torch.trace(k @ ell) + middle - 2 * (one @ k @ ell @ one) / (n - 2)) / (n * (n - 3))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 24), st.integers(1, 40), st.integers(1, 40))
def test_both_forms_agree_with_the_definition(seed, n, d, e):
    here, there = gaussian(n, d, seed), gaussian(n, e, seed + 1)
    sums = hsic_sums(here, there)
    expected = [hsic_by_definition(*pair) for pair in ((here, there), (here, here), (there, there))]
    scale = math.sqrt(float(expected[1] * expected[2])) + float(expected[1] + expected[2])
    torch.testing.assert_close(sums, torch.stack(expected), rtol=1e-10, atol=1e-10 * max(scale, 1.0))


@pytest.mark.parametrize("d", [8, 300])
def test_item_and_feature_forms_agree(d):
    """Zero columns change the shape, and so the form that is taken, but no inner product."""
    n = 40
    here, there = gaussian(n, d, 0), gaussian(n, d, 1)
    padding = torch.zeros(n, 400, dtype=torch.float64)
    wide_here, wide_there = torch.cat([here, padding], 1), torch.cat([there, padding], 1)
    torch.testing.assert_close(hsic_sums(here, there), hsic_sums(wide_here, wide_there), rtol=1e-10, atol=0)
    for cka in (biased_cka, debiased_cka):
        assert cka(here, there).value == pytest.approx(cka(wide_here, wide_there).value, abs=1e-10)


@pytest.mark.parametrize("cka", [biased_cka, debiased_cka])
@pytest.mark.parametrize("shape", [(300, 20), (20, 300), (64, 64)])
def test_rotated_and_scaled_copies_are_the_same(cka, shape):
    here = gaussian(*shape, 0) + 5
    reading = cka(here, -3.7 * rotated(here))
    assert reading.value == pytest.approx(1, abs=1e-10)
    assert cka(here, here).value == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("n", "biased"), [(256, 0.50), (64, 0.80)])
def test_independent_gaussians(n, biased):
    p = 256
    readings = [biased_cka(gaussian(n, p, seed), gaussian(n, p, seed + 100)).value for seed in range(5)]
    assert sum(readings) / 5 == pytest.approx(p / (n + p), abs=0.01)
    assert p / (n + p) == pytest.approx(biased, abs=0.005)


def test_debiased_cka_of_independent_gaussians_is_nothing_and_may_be_negative():
    values = [debiased_cka(gaussian(256, 256, s), gaussian(256, 256, s + 100)).value for s in range(20)]
    assert max(map(abs, values)) < 0.02
    assert abs(sum(values) / 20) < 0.004
    assert min(values) < 0 < max(values)


def test_batches_are_summed_before_the_ratio_and_a_rest_of_three_is_left_out():
    here, there = gaussian(67, 10, 0), gaussian(67, 12, 1)
    there[:, :4] += here[:, :4]
    reading = debiased_cka(here, there, batch_items=32)
    sums = hsic_sums(here[:32], there[:32]) + hsic_sums(here[32:64], there[32:64])
    assert reading.n == 64
    assert reading.value == pytest.approx(cka_of_sums(sums).value, abs=1e-14)
    cut = debiased_cka(here[:64], there[:64], batch_items=32)
    assert cut.value == pytest.approx(reading.value, abs=1e-14)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_half_precision_is_upcast(dtype):
    here, there = gaussian(32, 8, 0).to(dtype), gaussian(32, 8, 1).to(dtype)
    for cka in (biased_cka, debiased_cka):
        assert cka(here, there).value == cka(here.double(), there.double()).value


def test_a_massive_mean_does_not_eat_the_digits():
    here, there = gaussian(128, 16, 0), gaussian(128, 16, 1)
    there += here
    for cka in (biased_cka, debiased_cka):
        assert cka(here + 1e6, there - 1e6).value == pytest.approx(cka(here, there).value, abs=1e-8)


@pytest.mark.parametrize("cka", [biased_cka, debiased_cka])
def test_what_has_no_similarity_says_why(cka):
    good = gaussian(16, 4, 0)
    bad = good.clone()
    bad[3, 1] = math.nan
    constant = torch.full((16, 4), 0.1, dtype=torch.float64)
    refusals = {
        Status.NONFINITE: (good, bad),
        Status.CONSTANT_INPUT: (constant, good),
        Status.N_TOO_SMALL: (good[:1], good[:1]),
        Status.FAILED: (good, good[:8]),
    }
    for status, pair in refusals.items():
        reading = cka(*pair)
        assert math.isnan(reading.value)
        assert reading.status is status
        assert reading.reason
    assert cka(good, good[:, 0]).status is Status.FAILED


def test_three_items_have_no_debiased_value():
    assert debiased_cka(torch.eye(3), torch.eye(3)).status is Status.N_TOO_SMALL
    assert debiased_cka(torch.eye(8), torch.eye(8), batch_items=3).status is Status.N_TOO_SMALL
    assert torch.isnan(hsic_sums(torch.eye(3), torch.eye(3))).all()


def test_equidistant_items_leave_nothing_to_compare():
    """Every pair equally far apart: after centring all off-diagonal entries are equal, and HSIC₁ is 0."""
    assert debiased_cka(torch.eye(16), gaussian(16, 4, 0)).status is Status.CONSTANT_INPUT


def test_overflow_is_a_status():
    huge = 1e150 * gaussian(8, 3, 0)
    assert biased_cka(huge, huge).status is Status.NONFINITE

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.numerics import power_laws
from ontogeny.numerics.power_laws import rank_slope, tail_exponent
from ontogeny.numerics.spectra import entropy_rank, singular_values
from ontogeny.vocabulary import Reading, Status

#: What other programs find, and the scripts that say how.
ORACLES = Path(__file__).parents[1] / "oracles"
WEIGHTWATCHER = json.loads((ORACLES / "weightwatcher_alpha.json").read_text())
SCIKIT_LEARN = json.loads((ORACLES / "scikit_learn_similarity.json").read_text())


def gaussian(rows, columns, seed=0):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def pareto(count, alpha, seed=0):
    uniform = torch.rand(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (1 - uniform) ** (-1 / (alpha - 1))


def student(size, seed=0):
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.standard_t(2, size=(size, size)))


def one_by_one(values):
    """The estimator as it is written down, candidate by candidate."""
    data = np.sort(values.numpy())
    total, best = len(data), None
    few = total < 20
    for i in range(total - 1):
        n = total - i
        if few and n < 8:
            break
        alpha = 1 + (n - few) / np.log(data[i:] / data[i]).sum()
        d = np.abs(1 - (data[i:] / data[i]) ** (1 - alpha) - np.arange(n) / n).max()
        objective = d - 0.868 / math.sqrt(n) if few else d
        if best is None or objective < best[0]:
            best = objective, alpha, d, data[i], n
    return best[1:]


@pytest.mark.parametrize("seed", range(4))
def test_draws_of_a_pareto_law_have_its_exponent(seed):
    found = tail_exponent(pareto(2000, 3.0, seed))
    assert found.alpha == pytest.approx(3, abs=4 * found.sigma)
    assert found.sigma == pytest.approx((found.alpha - 1) / math.sqrt(found.size), rel=1e-12)
    assert not found.not_power_law
    assert found.values == 2000


def test_the_exponent_of_2000_pareto_draws_lies_where_it_is_said_to():
    values = [tail_exponent(pareto(2000, 3.0, seed)) for seed in range(10)]
    assert np.median([found.alpha for found in values]) == pytest.approx(3.05, abs=0.06)
    assert min(found.sigma for found in values) == pytest.approx(0.045, abs=0.008)


def test_heavy_tailed_weights():
    """2.3 … 2.6 is what is typical: single draws of eight range from 2.2 to 3.0, in WeightWatcher too."""
    found = [tail_exponent(singular_values(student(512, seed)).square()) for seed in range(8)]
    assert 2.3 <= np.median([one.alpha for one in found]) <= 2.6
    assert not any(one.not_power_law for one in found)


@pytest.mark.parametrize("seed", range(3))
def test_gaussian_weights_have_no_tail(seed):
    found = tail_exponent(singular_values(gaussian(256, 256, seed)).square())
    assert found.alpha > 4
    assert found.distance > 0.1
    assert found.not_power_law


@given(st.integers(8, 60), st.floats(1.5, 5), st.integers(0, 10_000))
def test_all_candidates_at_once_are_each_of_them_alone(count, alpha, seed):
    values = pareto(count, alpha, seed)
    found = tail_exponent(values)
    expected = one_by_one(values)
    assert (found.alpha, found.distance, found.start, found.size) == pytest.approx(expected, rel=1e-7)


def test_the_size_of_a_slice_changes_nothing(monkeypatch):
    values = pareto(300, 2.5)
    whole = tail_exponent(values)
    monkeypatch.setattr(power_laws, "TABLE", 1000)
    assert tail_exponent(values) == whole


def test_scale_changes_the_start_and_alpha_hat_alone():
    values = pareto(400, 2.5)
    one, other = tail_exponent(values), tail_exponent(1e6 * values)
    assert other.alpha == pytest.approx(one.alpha, rel=1e-9)
    assert other.start == pytest.approx(1e6 * one.start, rel=1e-9)
    assert other.alpha_hat == pytest.approx(one.alpha_hat + 6 * one.alpha, rel=1e-9)
    assert one.alpha_hat == pytest.approx(one.alpha * math.log10(values.max()))


def test_zeros_are_dropped():
    values = pareto(200, 2.5)
    assert tail_exponent(torch.cat([values, torch.zeros(30)])) == tail_exponent(values)


def test_short_tails_are_no_power_law():
    assert tail_exponent(pareto(15, 2.5)).not_power_law


@pytest.mark.parametrize(
    ("values", "status"),
    [
        (torch.ones(50), Status.CONSTANT_INPUT),
        (singular_values(torch.linalg.qr(gaussian(40, 40)).Q).square(), Status.CONSTANT_INPUT),
        (torch.arange(1.0, 8), Status.N_TOO_SMALL),
        (torch.cat([torch.arange(1.0, 8), torch.zeros(90)]), Status.N_TOO_SMALL),
        (torch.zeros(50), Status.ZERO_WEIGHT),
        (torch.tensor([]), Status.N_TOO_SMALL),
        (torch.tensor([1.0, math.nan] * 20), Status.NONFINITE),
        (torch.tensor([1.0, math.inf] * 20), Status.NONFINITE),
        (-torch.ones(30), Status.FAILED),
    ],
)
def test_what_has_no_tail_says_why(values, status):
    found = tail_exponent(values)
    assert isinstance(found, Reading)
    assert found.status is status
    assert found.reason


def test_an_exact_law_of_ranks():
    for slope in (1.5, 1.0, 0.2):
        found = rank_slope(torch.arange(1.0, 201, dtype=torch.float64) ** -slope)
        assert found.slope == pytest.approx(slope, abs=1e-9)
        assert found.r_squared == pytest.approx(1, abs=1e-9)
        assert found.points == 90


@pytest.mark.parametrize(("width", "points"), [(40, 20), (64, 44), (109, 89), (110, 90), (500, 90)])
def test_narrow_spectra_use_fewer_ranks(width, points):
    values = torch.arange(1.0, width + 1, dtype=torch.float64) ** -1.5
    values[:10] *= 1000
    values[points + 10 :] *= 1e-3
    found = rank_slope(values.flip(0))
    assert found.points == points
    assert found.slope == pytest.approx(1.5, abs=1e-9)


def test_white_noise_is_almost_flat():
    samples = gaussian(1000, 1024)
    centred = samples - samples.mean(0)
    found = rank_slope(singular_values(centred).square() / 999)
    assert found.slope == pytest.approx(0.15, abs=0.01)


def test_weights_are_one_over_the_rank():
    values = torch.linspace(5, 1, 120, dtype=torch.float64)
    ranks = np.arange(11, 101)
    line = np.polyfit(-np.log(ranks), np.log(values[10:100].numpy()), 1, w=np.sqrt(1 / ranks))
    found = rank_slope(values)
    assert found.slope == pytest.approx(line[0], rel=1e-9)
    residuals = np.log(values[10:100].numpy()) - np.polyval(line, -np.log(ranks))
    spread = np.log(values[10:100].numpy())
    assert found.r_squared == pytest.approx(1 - (residuals**2).sum() / ((spread - spread.mean()) ** 2).sum())


def test_equal_eigenvalues_are_flat():
    found = rank_slope(torch.ones(200))
    assert found.slope == pytest.approx(0, abs=1e-12)
    assert found.r_squared == 1


@pytest.mark.parametrize(
    ("values", "status"),
    [
        (torch.arange(39.0, 0, -1), Status.N_TOO_SMALL),
        (torch.tensor([1.0]), Status.N_TOO_SMALL),
        (torch.cat([torch.ones(30), torch.zeros(100)]), Status.RANK_DEFICIENT),
        (torch.zeros(200), Status.ZERO_WEIGHT),
        (torch.full((200,), math.nan), Status.NONFINITE),
    ],
)
def test_what_has_no_slope_says_why(values, status):
    found = rank_slope(values)
    assert isinstance(found, Reading)
    assert found.status is status
    assert found.reason


def test_a_reading_is_handed_on():
    gap = singular_values(torch.full((3, 3), math.nan))
    assert tail_exponent(gap) is gap
    assert rank_slope(gap) is gap


def drawn(name):
    """What the oracle's script draws under a name."""
    law, seed, *numbers = name.split()
    rng = np.random.RandomState(int(seed))
    if law == "student":
        return torch.from_numpy(rng.standard_t(2, size=tuple(map(int, numbers)))).float()
    count, alpha = int(numbers[0]), float(numbers[1])
    return torch.from_numpy((1 - rng.random_sample(count)) ** (-1 / (alpha - 1)))


def test_weightwatcher_fits_the_same_tails():
    for name, expected in WEIGHTWATCHER["eigenvalues"].items():
        found = tail_exponent(drawn(name))
        assert {key: getattr(found, key) for key in expected} == pytest.approx(expected, rel=1e-9), name


def test_weightwatcher_reads_the_same_from_layers():
    """To six digits: its singular values are single precision, of the same weights."""
    for name, expected in WEIGHTWATCHER["layers"].items():
        found = tail_exponent(singular_values(drawn(name)).square())
        assert {key: getattr(found, key) for key in expected} == pytest.approx(expected, rel=1e-5), name


def test_scikit_learn_draws_the_same_line():
    for seed, expected in SCIKIT_LEARN["spectra"].items():
        data = np.random.RandomState(int(seed)).standard_normal((600, 150)) * np.arange(1, 151) ** -0.6
        found = rank_slope(torch.from_numpy(np.linalg.eigvalsh(np.cov(data.T))))
        assert found.slope == pytest.approx(expected["slope"], rel=1e-9)
        assert found.r_squared == pytest.approx(expected["r_squared"], rel=1e-9)
        rank = entropy_rank(singular_values(torch.from_numpy(data))).value
        assert rank == pytest.approx(expected["entropy_rank"], rel=1e-9)

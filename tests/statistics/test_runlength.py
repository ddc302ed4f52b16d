import numpy as np
import pytest
import scipy.stats

from ontogeny.statistics.runlength import ALPHA, BETA, KAPPA, declared_changes, run_lengths


def test_no_run_length_at_all_has_the_hazards_chance_whatever_comes():
    values = np.random.default_rng(0).normal(size=(2, 40))
    values[1, 20:] += 10
    lengths = np.stack(list(run_lengths(values, 0.01)))
    assert lengths[:, :, 0] == pytest.approx(0.01)
    assert lengths.sum(axis=2) == pytest.approx(1)


def test_the_posterior_is_the_sum_over_all_ways_to_have_come_there():
    """By brute force over every placing of changes in six points."""
    data = np.array([0.3, -0.5, 0.1, 2.0, 2.4, 1.8])
    data = (data - data.mean()) / data.std()
    hazard, points = 0.2, data.size
    weights = np.zeros(points + 1)
    for pattern in range(2 ** (points - 1)):
        cuts = [t for t in range(1, points) if pattern >> (t - 1) & 1]
        chance = hazard ** len(cuts) * (1 - hazard) ** (points - 1 - len(cuts))
        for begin, end in zip([0, *cuts], [*cuts, points], strict=True):
            mean, kappa, alpha, beta = 0.0, KAPPA, ALPHA, BETA
            for x in data[begin:end]:
                scale = np.sqrt(beta * (kappa + 1) / (alpha * kappa))
                chance *= scipy.stats.t.pdf(x, 2 * alpha, loc=mean, scale=scale)
                beta += kappa * (x - mean) ** 2 / (2 * (kappa + 1))
                mean, kappa, alpha = (kappa * mean + x) / (kappa + 1), kappa + 1, alpha + 0.5
        weights[points - (cuts[-1] if cuts else 0)] += chance
    expected = (1 - hazard) * weights[1:] / weights.sum()
    assert [*run_lengths(data[None], hazard)][-1][0, 1:] == pytest.approx(expected, rel=1e-9)


def test_a_shift_is_declared_where_it_is_and_a_constant_series_has_none():
    values = np.random.default_rng(1).normal(size=(1, 120))
    values[0, 60:] += 6
    assert np.flatnonzero(declared_changes(run_lengths(values, 0.01), 10)[0]).tolist() == [60]
    assert not declared_changes(run_lengths(np.ones((1, 50)), 0.01), 10).any()

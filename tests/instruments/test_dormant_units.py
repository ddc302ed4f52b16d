"""ACT-03."""

import pytest
import torch


def test_equal_units_are_not_dormant(read):
    rows = read("dormant_units", "mlp_activation", -torch.ones(4, 9, 16))
    assert {name: rows[name][0]["value"] for name in rows} == dict.fromkeys(rows, 0)
    assert set(rows) == {"", "tau_0", "tau_0.025", "tau_0.1", "with_first"}
    assert rows[""][0]["n"] == 32


def test_one_active_unit_makes_the_others_dormant(value):
    neurons = torch.zeros(4, 9, 16)
    neurons[..., 3] = torch.arange(9.0)
    assert value("dormant_units", "mlp_activation", neurons) == 15 / 16


def test_the_thresholds_are_those_of_the_score(read):
    """Mean activity is 1: scores are the activities themselves."""
    activity = torch.tensor([0, 0.0249, 0.0251, 0.0999, 0.1001, 0.0, 1.0, 6.75])
    neurons = activity.expand(4, 9, 8) * torch.tensor([1.0, -1.0])[torch.arange(9) % 2][None, :, None]
    rows = read("dormant_units", "mlp_activation", neurons)
    found = {name: 8 * rows[name][0]["value"] for name in ("", "tau_0", "tau_0.025", "tau_0.1")}
    assert found == {"": 3, "tau_0": 2, "tau_0.025": 3, "tau_0.1": 5}
    assert (rows["tau_0"][0]["low"], rows["tau_0"][0]["high"]) == (0, 0.25)


def test_position_zero_is_in_one_of_them_only(read):
    neurons = torch.ones(4, 9, 8)
    neurons[:, 0, 2] = 1e4
    rows = read("dormant_units", "mlp_activation", neurons)
    assert (rows[""][0]["value"], rows["with_first"][0]["value"]) == (0, 7 / 8)


def test_scale_and_the_order_of_neurons_change_nothing(value, gaussian):
    neurons = gaussian(5, 9, 30) * gaussian(30, seed=3).pow(4)
    order = torch.randperm(30, generator=torch.Generator().manual_seed(0))
    plain = value("dormant_units", "mlp_activation", neurons)
    assert 0 < plain < 1
    assert value("dormant_units", "mlp_activation", 1e-3 * neurons[..., order]) == plain


@pytest.mark.parametrize(
    ("neurons", "expected"),
    [
        (torch.zeros(3, 4, 5), "zero-output"),
        (torch.full((3, 4, 5), torch.nan), "nonfinite"),
        (torch.full((3, 4, 5), torch.inf), "nonfinite"),
        (torch.ones(3, 1, 5), "too-short"),
    ],
)
def test_what_cannot_be_read_says_why(status, neurons, expected):
    assert status("dormant_units", "mlp_activation", neurons) == expected

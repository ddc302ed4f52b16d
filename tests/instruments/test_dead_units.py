"""ACT-03."""

import pytest
import torch
from torch.nn import functional as F

from ontogeny.catalogue import part
from ontogeny.testing import measured_on, tiny_subject


@pytest.fixture
def after(read):
    """What `dead_units` says of a non-linearity and its input; the values may be replaced."""

    def rows(function, gates, values=None):
        neurons = function(gates) if values is None else values
        return read("dead_units", "mlp_activation", neurons, beside={"mlp_preactivation": gates})

    return rows


@pytest.mark.parametrize("function", [F.relu, F.gelu, F.silu])
def test_a_bias_of_minus_a_thousand_kills_every_unit(after, gaussian, function):
    rows = after(function, gaussian(6, 20, 30) - 1e3)
    assert rows[""][0]["value"] == 1
    assert rows["weak"][0]["status"] == "zero-output", "there is no median to be weak beside"


@pytest.mark.parametrize("function", [F.relu, F.gelu, F.silu])
def test_gaussian_input_kills_none(after, gaussian, function):
    rows = after(function, gaussian(6, 20, 30))
    assert rows[""][0]["value"] == rows["silent"][0]["value"] == rows["weak"][0]["value"] == 0


@pytest.mark.parametrize(("mlp", "rectified"), [("relu", 1), ("relu2", 1), ("gelu", 0), ("swiglu", 0)])
def test_the_rule_is_that_of_the_model(mlp, rectified):
    rows = measured_on(tiny_subject(mlp=mlp), part("instrument", "dead_units")).rows
    assert [row["value"] for row in rows if row["component"] == "rectified"] == [rectified] * 2


def test_a_rectified_unit_that_ever_fires_is_alive_however_little(after, gaussian):
    gates = gaussian(6, 20, 10)
    gates[..., :4] = -1
    gates[3, 7, 3] = 1e-9
    rows = after(F.relu, gates)
    assert rows[""][0]["value"] == rows["silent"][0]["value"] == 0.3
    assert rows["weak"][0]["value"] == 0.4, "by the rule of smooth units it would be dead"
    assert rows["rectified"][0]["value"] == 1


def test_a_smooth_unit_is_dead_below_a_thousandth_of_the_median(after, gaussian):
    gates = gaussian(6, 20, 11)
    neurons = F.gelu(gates)
    neurons[..., :] = neurons / neurons[:, 1:].square().mean((0, 1)).sqrt()
    neurons[..., 0] *= 0.9e-3
    neurons[..., 1] *= 1.1e-3
    rows = after(F.gelu, gates, neurons)
    assert rows[""][0]["value"] == pytest.approx(1 / 11)
    assert rows["rectified"][0]["value"] == rows["silent"][0]["value"] == 0


def test_fewer_tokens_than_a_claim_needs_bound_it(after, gaussian):
    gates = gaussian(6, 21, 10)
    gates[..., :4] = -1
    rows = after(F.relu, gates)
    n = 6 * 20
    assert (rows[""][0]["low"], rows[""][0]["high"], rows[""][0]["n"]) == (0, 0.4, n)
    assert rows["rate_bound"][0]["value"] == pytest.approx(3 / n, rel=0.02)
    assert (1 - rows["rate_bound"][0]["value"]) ** n == pytest.approx(0.05)


def test_of_a_smooth_unit_the_rest_of_the_tokens_may_bring_nothing(after, gaussian):
    """120 tokens with an RMS of 0.02 medians are 100,000 with at least 0.02 · sqrt(120 / 100,000)."""
    gates = gaussian(6, 21, 11)
    neurons = F.gelu(gates)
    neurons[..., :] = neurons / neurons[:, 1:].square().mean((0, 1)).sqrt()
    neurons[..., 0] *= 0.02
    neurons[..., 1] *= 0.04
    rows = after(F.gelu, gates, neurons)
    assert rows[""][0]["value"] == rows[""][0]["low"] == 0
    assert rows[""][0]["high"] == pytest.approx(1 / 11)


def test_a_hundred_thousand_tokens_are_a_claim(after):
    gates = torch.ones(200, 501, 3)
    gates[..., 0] = -1
    rows = after(F.relu, gates)
    assert rows[""][0]["low"] == rows[""][0]["high"] == rows[""][0]["value"] == pytest.approx(1 / 3)
    assert rows["rate_bound"][0]["value"] == pytest.approx(3e-5, rel=0.01)


def test_a_unit_that_fires_at_position_zero_alone_is_alive_with_it(after, gaussian):
    gates = gaussian(6, 20, 10)
    gates[..., 0] = -1
    gates[0, 0, 0] = 1
    rows = after(F.relu, gates)
    assert (rows[""][0]["value"], rows["with_first"][0]["value"]) == (0.1, 0)
    assert rows["with_first"][0]["n"] == 120


def test_scale_and_the_order_of_neurons_change_nothing(after, gaussian):
    gates = gaussian(6, 20, 12) - 2.5
    order = torch.randperm(12, generator=torch.Generator().manual_seed(0))
    plain = after(F.relu, gates)
    assert 0 < plain[""][0]["value"] < 1
    assert after(F.relu, 30 * gates[..., order])[""][0]["value"] == plain[""][0]["value"]


@pytest.mark.parametrize(
    ("neurons", "expected"),
    [
        (torch.full((3, 4, 5), torch.nan), "nonfinite"),
        (torch.full((3, 4, 5), torch.inf), "nonfinite"),
        (torch.ones(3, 1, 5), "too-short"),
        (torch.full((3, 4, 5), 1e-30), "zero-output"),
    ],
)
def test_what_cannot_be_read_says_why(after, neurons, expected):
    assert after(None, torch.ones(neurons.shape), neurons)[""][0]["status"] == expected


def test_without_the_input_of_the_non_linearity_it_is_not_observable(status, gaussian):
    assert status("dead_units", "mlp_activation", gaussian(3, 4, 5)) == "not-observable"

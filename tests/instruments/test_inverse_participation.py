"""ACT-06."""

import pytest
import torch
from torch.nn import functional as F


def test_one_hot_flat_and_gaussian_streams(value, gaussian):
    hot = torch.eye(16)[torch.arange(40) % 16].view(4, 10, 16)
    assert value("inverse_participation", "residual", 3 * hot) == 1
    assert value("inverse_participation", "residual", -torch.ones(4, 10, 16)) == pytest.approx(1 / 16)
    assert value("inverse_participation", "residual", gaussian(64, 33, 30)) == pytest.approx(3 / 32, rel=0.02)


def test_position_zero_is_left_out(value, gaussian):
    stream = gaussian(4, 10, 16)
    plain = value("inverse_participation", "residual", stream)
    stream[:, 0] = torch.eye(16)[0]
    assert value("inverse_participation", "residual", stream) == plain


def test_neurons_before_and_after_have_their_names(read, gaussian):
    gates = gaussian(64, 33, 30)
    rows = read("inverse_participation", "mlp_activation", F.relu(gates), beside={"mlp_preactivation": gates})
    assert set(rows) == {"preactivation", "activation"}
    assert rows["preactivation"][0]["value"] == pytest.approx(3 / 32, rel=0.02)
    assert rows["activation"][0]["value"] > 1.5 * rows["preactivation"][0]["value"]


def test_null_vectors_are_left_out_and_counted_out(read):
    stream = torch.ones(4, 10, 16)
    stream[0, 3:5] = 0
    (row,) = read("inverse_participation", "residual", stream)[""]
    assert (row["value"], row["n"]) == (pytest.approx(1 / 16), 34)


def test_scale_and_the_order_of_features_change_nothing(value, gaussian):
    stream = gaussian(4, 10, 16)
    order = torch.randperm(16, generator=torch.Generator().manual_seed(0))
    scales = gaussian(4, 10, 1, seed=2).exp()
    assert value("inverse_participation", "residual", scales * stream[..., order]) == pytest.approx(
        value("inverse_participation", "residual", stream), rel=1e-6
    )


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (torch.zeros(3, 4, 5), "zero-output"),
        (torch.full((3, 4, 5), torch.nan), "nonfinite"),
        (torch.full((3, 4, 5), torch.inf), "nonfinite"),
        (torch.ones(3, 1, 5), "too-short"),
    ],
)
def test_what_has_none_says_why(status, stream, expected):
    assert status("inverse_participation", "residual", stream) == expected

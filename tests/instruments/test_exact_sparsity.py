"""ACT-02."""

import pytest
import torch
from torch.nn import functional as F

from ontogeny.catalogue import part
from ontogeny.testing import measured_on, tiny_subject


def test_relu_of_symmetric_input_is_half_zero_and_gelu_is_not(value, gaussian):
    neurons = gaussian(16, 33, 200)
    assert value("exact_sparsity", "mlp_activation", F.relu(neurons)) == pytest.approx(0.5, abs=0.005)
    assert value("exact_sparsity", "mlp_activation", F.gelu(neurons)) == 0


@pytest.mark.parametrize("mlp", ["relu", "relu2"])
def test_a_rectified_model_begins_half_zero(mlp):
    rows = measured_on(tiny_subject(mlp=mlp, mlp_width=400), part("instrument", "exact_sparsity")).rows
    assert [row["value"] for row in rows if not row["component"]] == pytest.approx([0.5, 0.5], abs=0.03)


def test_it_is_the_share_of_zeros_with_and_without_position_zero(read, gaussian):
    neurons = F.relu(gaussian(9, 7, 20))
    neurons[:, 0] = 0
    rows = read("exact_sparsity", "mlp_activation", neurons)
    assert rows[""][0]["value"] == pytest.approx(float((neurons[:, 1:] == 0).double().mean()))
    assert rows["with_first"][0]["value"] == pytest.approx(float((neurons == 0).double().mean()))
    assert (rows[""][0]["n"], rows["with_first"][0]["n"]) == (9 * 6 * 20, 9 * 7 * 20)


def test_scale_and_the_order_of_neurons_change_nothing(value, gaussian):
    neurons = F.relu(gaussian(5, 9, 30))
    order = torch.randperm(30, generator=torch.Generator().manual_seed(0))
    assert value("exact_sparsity", "mlp_activation", 50 * neurons[..., order]) == value(
        "exact_sparsity", "mlp_activation", neurons
    )


@pytest.mark.parametrize(
    ("neurons", "expected"),
    [
        (torch.zeros(3, 4, 5), "ok"),
        (torch.full((3, 4, 5), torch.nan), "nonfinite"),
        (torch.full((3, 4, 5), torch.inf), "nonfinite"),
        (torch.ones(3, 1, 5), "too-short"),
    ],
)
def test_zeros_are_a_number_and_nothing_is_none(status, neurons, expected):
    assert status("exact_sparsity", "mlp_activation", neurons) == expected

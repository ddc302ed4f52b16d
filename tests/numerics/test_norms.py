"""Norms agree with float64, whatever the dtype (F57, F58, F60)."""

import math

import pytest
import torch

from ontogeny.numerics.norms import decay_norm, ratio, root_of_sum, squares, vector


def sparse(indices: list[int], values: list[float], size: int) -> torch.Tensor:
    return torch.sparse_coo_tensor(
        torch.tensor([indices]), torch.tensor(values), (size,), check_invariants=True
    )


def test_float32_kernels_agree_with_float64():
    rng = torch.Generator().manual_seed(0)
    tensors = [torch.randn(512, 128, generator=rng), torch.randn(7, generator=rng) * 1e-8, torch.zeros(3)]
    exact = [t.double().square().sum().item() for t in tensors]
    assert squares(tensors) == pytest.approx(exact, rel=1e-6)


def test_half_precision_is_upcast_before_squaring():
    large = torch.full((1000,), 300.0, dtype=torch.float16)
    assert squares([large])[0] == pytest.approx(9e7, rel=1e-6), "squaring in fp16 would overflow"
    assert math.isfinite(squares([large.bfloat16()])[0])


def test_complex_and_sparse_gradients_have_norms():
    assert squares([torch.tensor([3 + 4j])])[0] == pytest.approx(25)
    assert squares([sparse([0, 0], [1.0, 2.0], 4)])[0] == pytest.approx(9), (
        "duplicates add up before they are squared"
    )


def test_non_finite_entries_are_data():
    values = squares([torch.tensor([1.0, math.nan]), torch.tensor([math.inf])])
    assert math.isnan(values[0])
    assert math.isinf(values[1])


def test_nothing_has_no_norm():
    assert squares([]) == []
    assert root_of_sum([]) == 0


def test_a_ratio_to_zero_is_no_number():
    assert ratio(3.0, 6.0) == 0.5
    assert math.isnan(ratio(3.0, 1e-13))
    assert math.isnan(ratio(math.nan, 1.0))


def test_decay_is_weighed_tensor_by_tensor():
    assert decay_norm([0.1, 0.0, 0.2], [9.0, 100.0, 4.0]) == pytest.approx(math.sqrt(0.09 + 0.16))


def test_a_vector_holds_every_entry_as_a_real_number():
    assert vector(torch.ones(2, 3, dtype=torch.float16)).dtype is torch.float64
    assert vector(torch.tensor([3 + 4j])).tolist() == [3, 4]
    assert vector(sparse([1], [2.0], 3)).tolist() == [0, 2, 0]

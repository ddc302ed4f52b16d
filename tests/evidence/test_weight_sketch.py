"""Points in weight space, made short."""

import pytest
import torch

from ontogeny.evidence.weight_sketch import of_all, of_matrix


def test_a_small_matrix_is_itself_and_a_large_one_is_4096_long():
    small, large = torch.ones(64, 64), torch.randn(100, 100, generator=torch.Generator().manual_seed(0))
    assert torch.equal(of_matrix({"": small}), small.double().flatten())
    assert len(of_matrix({"": large})) == 4096
    assert float(of_matrix({"": large}).norm()) == pytest.approx(float(large.norm()), rel=0.1)


def test_all_parameters_are_one_point():
    tensors = {"a": torch.ones(70, 70), "b": torch.ones(3)}
    assert len(of_all(tensors)) == 4096
    assert torch.equal(of_all(tensors), of_all(tensors))

"""Norms by group, and updates across steps, agree with float64 (F57, F58, F60)."""

import math

import pytest
import torch

from ontogeny.record.norms import UpdateNorms, grouped, norm_groups


def test_non_finite_entries_are_data():
    found = grouped([math.nan, math.inf], {"a": [0], "b": [1]})
    assert math.isnan(found.total)
    assert math.isnan(found.by_group["a"])


def test_groups_partition_the_parameters():
    parameters = {
        "blocks.0.attention.query.weight": torch.zeros(2, 2),
        "blocks.0.attention.query.bias": torch.zeros(2),
        "blocks.0.norm.weight": torch.zeros(2),
        "blocks.1.norm.weight": torch.zeros(2),
    }
    groups = norm_groups(parameters)
    assert groups == {"blocks.0.attention.query": [0], "biases": [1], "norms": [2, 3]}
    assert sorted(i for indices in groups.values() for i in indices) == list(range(4))


def test_a_parameter_without_gradient_is_left_out():
    found = grouped([4.0, -1.0], {"a": [0], "b": [1]})
    assert found.total == 2
    assert found.by_group == {"a": 2}


def test_an_edit_between_steps_is_noticed():
    weight = torch.ones(4)
    watch = UpdateNorms({"w": weight})
    weight.add_(5)
    watch.prepare()
    weight.add_(1)
    changes, before = watch.measure()
    assert changes == [pytest.approx(4)]
    assert before == [pytest.approx(4 * 36)]


def test_updates_are_those_of_float64_in_order_across_cache_blocks():
    rng = torch.Generator().manual_seed(0)
    shapes = [(512, 300), (3,), (400, 400), (2, 2)]  # more than one block's bytes
    parameters = {str(i): torch.randn(shape, generator=rng) for i, shape in enumerate(shapes)}
    watch = UpdateNorms(parameters)
    for _ in range(2):
        before = [p.double() for p in parameters.values()]
        for p in parameters.values():
            p.add_(torch.randn(p.shape, generator=rng), alpha=0.1)
        changes, weights = watch.measure()
        after = parameters.values()
        exact = [(b - a).square().sum().item() for b, a in zip(before, after, strict=True)]
        assert changes == pytest.approx(exact, rel=1e-5)
        assert weights == pytest.approx([b.square().sum().item() for b in before], rel=5e-6)

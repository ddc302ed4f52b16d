"""HEA-07."""

import math

import pytest
import torch

from ontogeny.catalogue import measuring_part
from ontogeny.testing import measured_on, tiny_subject


def by_component(subject) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    for row in measured_on(subject, measuring_part("head_redundancy")).rows:
        found.setdefault(row["component"], []).append(row)
    return found


def test_duplicated_heads_are_one_throughout():
    subject = tiny_subject(init_scale=0.2)
    for block in subject.model.blocks:
        for name in ("query", "key", "value", "output"):
            weight = getattr(block.attention, name).weight.data
            heads = weight.view(4, 12, 48) if name != "output" else weight.mT.reshape(4, 12, 48)
            same = heads[:1].expand(4, 12, 48).reshape(48, 48)
            weight.copy_(same if name != "output" else same.mT)
    rows = by_component(subject)
    assert set(rows) == {"", "centred", "output", "weights"}
    for found in rows.values():
        assert [row["value"] for row in found] == pytest.approx([1, 1], abs=1e-5)
    assert [row["n"] for row in rows["weights"]] == [6, 6]
    assert [row["n"] for row in rows["centred"]] == [6 * 24] * 2
    assert [row["n"] for row in rows["output"]] == [6 * 24 * 39] * 2


def test_random_heads_write_independently():
    """A pair of maps or writes reads 0 give or take 1/√d; the mean of six pairs over many tokens less."""
    rows = by_component(tiny_subject(init_scale=0.2))
    for found in (rows["output"], rows["weights"]):
        assert all(abs(row["value"]) < 1 / math.sqrt(48) for row in found)


def test_patterns_are_biased_upwards_and_less_uniform_attention_are_not(read, gaussian):
    scores = gaussian(40, 4, 32, 32)
    pattern = scores.masked_fill(torch.ones(32, 32, dtype=torch.bool).triu(1), -torch.inf).softmax(-1)
    rows = read("head_redundancy", "attention", pattern)
    assert rows[""][0]["value"] > 0.2
    assert abs(rows["centred"][0]["value"]) < 0.02


def test_two_kinds_of_heads_are_half_alike(read, looking):
    one = looking(torch.ones(4, dtype=torch.long), 32)
    other = looking(torch.full((4,), 3), 32)
    value = read("head_redundancy", "attention", torch.cat([one, one, other], 1))[""][0]["value"]
    shared = 2 / 32  # queries 0 and 1 can look at key 0 only
    assert value == pytest.approx((1 + 2 * shared) / 3, rel=1e-5)


def test_the_order_of_heads_does_not_matter(read, gaussian):
    pattern = gaussian(5, 4, 12, 12).softmax(-1)
    plain = read("head_redundancy", "attention", pattern)
    turned = read("head_redundancy", "attention", pattern[:, [2, 0, 3, 1]])
    for name in ("", "centred"):
        assert turned[name][0]["value"] == pytest.approx(plain[name][0]["value"], rel=1e-5)


def test_what_has_no_pairs_says_why(read, uniform):
    rows = read("head_redundancy", "attention", uniform(4, 1, 16))
    assert {row["status"] for found in rows.values() for row in found} == {"n-too-small"}
    rows = read("head_redundancy", "attention", uniform(4, 3, 16))
    assert rows[""][0]["value"] == pytest.approx(1, abs=1e-6)
    assert rows["centred"][0]["status"] == "constant-input"
    rows = read("head_redundancy", "attention", uniform(4, 3, 16) * torch.nan)
    assert {row["status"] for found in rows.values() for row in found} == {"nonfinite"}


def test_dead_heads_have_no_direction():
    subject = tiny_subject(init_scale=0.2)
    for block in subject.model.blocks:
        block.attention.value.weight.data.zero_()
    rows = by_component(subject)
    assert {row["status"] for row in rows["output"]} == {"zero-output"}
    assert {row["status"] for row in rows["weights"]} == {"zero-weight"}
    assert {row["status"] for row in rows[""]} == {"ok"}

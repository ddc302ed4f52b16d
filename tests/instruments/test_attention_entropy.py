"""HEA-06."""

import math

import pytest
import torch


def test_uniform_attention(read, uniform):
    rows = read("attention_entropy", "attention", uniform(3, 2, 64))
    assert [row["value"] for row in rows[""]] == pytest.approx([math.lgamma(65) / 64] * 2, rel=1e-5)
    assert rows[""][0]["value"] == pytest.approx(3.206, abs=5e-4)
    assert [row["value"] for row in rows["normalised"]] == pytest.approx([1, 1], rel=1e-5)
    assert rows[""][0]["n"] == 3 * 64
    assert rows["normalised"][0]["n"] == 3 * 63


def test_one_hot_rows_have_none(read, looking):
    rows = read("attention_entropy", "attention", looking(torch.ones(3, dtype=torch.long), 16))
    assert rows[""][0]["value"] == 0
    assert rows["normalised"][0]["value"] == 0


def test_the_order_of_keys_does_not_matter(read, gaussian):
    pattern = gaussian(2, 2, 12, 12).softmax(-1)
    order = torch.randperm(12, generator=torch.Generator().manual_seed(1))
    values = [row["value"] for row in read("attention_entropy", "attention", pattern)[""]]
    moved = [row["value"] for row in read("attention_entropy", "attention", pattern[..., order])[""]]
    assert moved == pytest.approx(values, rel=1e-5)


def test_broken_and_single_query_patterns_say_why(read, status, uniform):
    assert status("attention_entropy", "attention", uniform(2, 2, 8) * torch.nan) == "nonfinite"
    rows = read("attention_entropy", "attention", torch.ones(2, 1, 1, 1))
    assert rows[""][0]["value"] == 0
    assert rows["normalised"][0]["status"] == "too-short"

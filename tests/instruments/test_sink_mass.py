"""HEA-05."""

import pytest
import torch


def test_attention_to_key_zero_only_is_one(read, looking):
    rows = read("sink_mass", "attention", looking(torch.full((4,), 64), 64))
    assert rows[""][0]["value"] == 1
    assert rows[""][0]["n"] == 4 * 64
    assert rows["null:shuffled_lag"][0]["value"] < 0.2


def test_uniform_attention_reads_what_is_known_and_so_does_its_null(read, uniform):
    rows = read("sink_mass", "attention", uniform(4, 2, 64))
    assert [row["value"] for row in rows[""]] == pytest.approx([0.0741] * 2, abs=5e-5)
    assert rows["null:shuffled_lag"][0]["value"] == pytest.approx(rows[""][0]["value"], abs=1e-6)


def test_without_query_zero_uniform_attention_reads_less(read, uniform):
    """Σ_t 1 / (t + 1) over t ≥ 1, by T − 1; query 0, whose value is 1, is part of the definition."""
    whole = read("sink_mass", "attention", uniform(4, 1, 64))[""][0]["value"]
    assert (64 * whole - 1) / 63 == pytest.approx(0.0594, abs=5e-5)


def test_early_queries_are_those_of_a_shorter_text(read, gaussian):
    scores = gaussian(5, 2, 80, 80)
    pattern = scores.masked_fill(torch.ones(80, 80, dtype=torch.bool).triu(1), -torch.inf).softmax(-1)
    rows = read("sink_mass", "attention", pattern)
    shorter = read("sink_mass", "attention", pattern[:, :, :64, :64])
    early = [row["value"] for row in rows["early"]]
    assert early == pytest.approx([row["value"] for row in shorter[""]], rel=1e-6)
    assert early == pytest.approx([row["value"] for row in shorter["early"]], rel=1e-6)
    assert early[0] > rows[""][0]["value"], "longer texts leave less for key 0"
    assert rows["early"][0]["n"] == 5 * 64


def test_query_zero_alone_is_left_of_a_local_head(read, looking):
    rows = read("sink_mass", "attention", looking(torch.zeros(4, dtype=torch.long), 64))
    assert rows[""][0]["value"] == pytest.approx(1 / 64)


def test_a_favourite_key_that_is_not_the_first_is_found_by_the_null(read):
    pattern = torch.zeros(4, 1, 64, 64)
    pattern[..., 5] = 1
    pattern[:, :, :5] = torch.eye(64)[:5]
    rows = read("sink_mass", "attention", pattern)
    assert rows["null:shuffled_lag"][0]["value"] > 0.2 > 2 * rows[""][0]["value"]


def test_broken_patterns_and_short_stimuli_say_why(status, uniform):
    assert status("sink_mass", "attention", uniform(4, 2, 16) * torch.nan) == "nonfinite"
    assert status("sink_mass", "attention", uniform(4, 2, 4)) == "no-target"

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

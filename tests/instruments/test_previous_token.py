"""HEA-01."""

import pytest
import torch


def test_the_shifted_identity_is_one(read, looking):
    rows = read("previous_token", "attention", looking(torch.ones(6, dtype=torch.long), 64))
    (row,) = rows[""]
    assert row["value"] == 1
    assert row["n"] == 6 * 63
    assert row["head"] == 0


def test_uniform_attention_reads_what_is_known_and_so_does_its_null(read, uniform):
    rows = read("previous_token", "attention", uniform(5, 3, 64))
    assert [row["value"] for row in rows[""]] == pytest.approx([0.0594] * 3, abs=5e-5)
    assert rows["null:shuffled_lag"][0]["value"] == pytest.approx(rows[""][0]["value"], abs=1e-6)


def test_a_sink_reads_only_its_first_query(read, looking):
    rows = read("previous_token", "attention", looking(torch.full((4,), 64), 64))
    assert rows[""][0]["value"] == pytest.approx(1 / 63)
    assert rows["null:shuffled_lag"][0]["value"] < 0.1


def test_other_lags_read_zero(read, looking):
    rows = read("previous_token", "attention", looking(torch.full((4,), 2), 64))
    assert rows[""][0]["value"] == pytest.approx(1 / 63), "query 1 has no other key before it"


def test_heads_are_read_in_their_order_and_sequences_in_any(read, looking, uniform):
    pattern = torch.cat([uniform(6, 1, 32), looking(torch.ones(6, dtype=torch.long), 32)], 1)
    values = [row["value"] for row in read("previous_token", "attention", pattern)[""]]
    assert values[0] < 0.2
    assert values[1] == 1
    swapped = [row["value"] for row in read("previous_token", "attention", pattern.flip(0, 1))[""]]
    assert swapped == pytest.approx(values[::-1], rel=1e-12)


def test_broken_patterns_and_short_stimuli_say_why(status, read, uniform, stimulus_of):
    broken = uniform(4, 2, 16)
    broken[2, 1] = torch.nan
    rows = read("previous_token", "attention", broken)
    assert [row["status"] for row in rows[""]] == ["ok", "nonfinite"]
    assert rows["null:shuffled_lag"][0]["status"] == "ok", "the head that is fine has its null"
    broken[:] = torch.nan
    rows = read("previous_token", "attention", broken)
    assert {row["status"] for rows_ in rows.values() for row in rows_} == {"nonfinite"}
    assert status("previous_token", "attention", uniform(4, 2, 5)) == "no-target"

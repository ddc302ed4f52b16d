"""ACT-01."""

import pytest
import torch


def test_gaussian_streams_read_what_is_known(read, gaussian):
    rows = read("massive_activation", "residual", gaussian(10, 64, 768))
    assert rows[""][0]["value"] == pytest.approx(6.5, abs=0.4)
    assert rows["massive"][0]["value"] == 0
    assert rows["median"][0]["value"] == pytest.approx(0.6745, abs=0.01)
    assert rows[""][0]["n"] == 10


def test_one_huge_entry_is_exactly_one_massive_entry(read, gaussian):
    stream = gaussian(10, 64, 768)
    stream[:, 3, 41] = -1e4
    rows = read("massive_activation", "residual", stream)
    assert rows["massive"][0]["value"] == 1
    assert rows["top1"][0]["value"] == 1e4
    assert rows["top2"][0]["value"] < 10
    assert (rows["dimension"][0]["value"], rows["position"][0]["value"]) == (41, 3)


def test_both_rules_must_hold(read, gaussian):
    stream = gaussian(10, 16, 32).sign()
    stream[:, 1, 0] = 900
    assert read("massive_activation", "residual", stream)["massive"][0]["value"] == 0
    stream[:, 1, 0] = 1000
    assert read("massive_activation", "residual", stream)["massive"][0]["value"] == 1
    small = read("massive_activation", "residual", stream / 100)
    assert small["massive"][0]["value"] == 0, "the ratio is the same, the size is not"
    assert small["massive_rel"][0]["value"] == 1, "which the ratio's own flag does not ask"
    assert small[""][0]["value"] == pytest.approx(1000, rel=1e-5)


def test_each_of_the_three_largest_has_its_place(read, gaussian):
    stream = gaussian(10, 16, 32)
    for size, position, dimension in ((3e4, 2, 5), (2e4, 0, 31), (1e4, 7, 5)):
        stream[:, position, dimension] = size
    rows = read("massive_activation", "residual", stream)
    assert rows["massive"][0]["value"] == rows["massive_rel"][0]["value"] == 3
    found = {name: row[0]["value"] for name, row in rows.items()}
    assert [found[f"dimension{rank}"] for rank in ("", "2", "3")] == [5, 31, 5]
    assert [found[f"position{rank}"] for rank in ("", "2", "3")] == [2, 0, 7]
    assert [found[f"top{rank}"] for rank in "123"] == [3e4, 2e4, 1e4]


def test_only_the_first_ten_sequences_are_read_however_they_are_cut(read, gaussian):
    stream = gaussian(24, 8, 16)
    whole, cut = (read("massive_activation", "residual", stream, batch=batch) for batch in (24, 7))
    assert whole[""][0]["n"] == cut[""][0]["n"] == 10
    assert whole[""][0]["value"] == cut[""][0]["value"]


@pytest.mark.parametrize(
    ("filled", "expected"), [(0.0, "zero-output"), (torch.nan, "nonfinite"), (torch.inf, "nonfinite")]
)
def test_dead_and_broken_streams_say_why(read, filled, expected):
    rows = read("massive_activation", "residual", torch.full((4, 8, 16), filled))
    assert {row["status"] for found in rows.values() for row in found} == {expected}


def test_one_broken_entry_is_not_overlooked(status, gaussian):
    stream = gaussian(4, 8, 16)
    stream[2, 1, 1] = torch.nan
    assert status("massive_activation", "residual", stream) == "nonfinite"

"""Which change came first: the lead of one over the other, in a run and over seeds."""

import math

import numpy as np
import pytest
from scipy import stats

from changes import change, table
from ontogeny.detect.order import When, lead, leads
from ontogeny.errors import UnknownName


def run(first: float, second: float, within: float = 1.01, **said) -> object:
    return table(
        change("previous_token", first, within=within, layer=0),
        change("induction", second, within=within, **said),
    )


def test_the_lead_is_the_ratio_of_steps_in_decades():
    found, low, high = lead(When(100, 100, 100), When(1000, 1000, 1000))
    assert (found, low, high) == (1, 1, 1)


def test_independent_intervals_are_joined_by_their_squares():
    """Both reach 0.3 and 0.4 decades towards the other: together 0.5."""
    first, second = When(100, 100, 100 * 10**0.3), When(1000, 1000 / 10**0.4, 1000)
    found, low, high = lead(first, second)
    assert (found, low, high) == (pytest.approx(1), pytest.approx(0.5), pytest.approx(1))


def test_step_0_counts_as_a_half():
    assert lead(When(0, 0, 0), When(5, 5, 5))[0] == 1


def test_changes_between_the_same_two_checkpoints_cannot_be_ordered():
    _, low, high = lead(When(120, 100, 200), When(160, 100, 200))
    assert low < 0 < high


def test_a_run_says_which_came_first_only_where_the_interval_allows():
    found = leads({"apart": run(100, 200), "near": run(100, 101, within=1.2), "other": run(200, 100)},
                  "previous_token", "induction")  # fmt: skip
    assert found["earlier"].tolist()[:3] == ["previous_token", "none", "induction"]
    assert found["lead"].iloc[0] == pytest.approx(math.log10(2))


def test_over_seeds_the_run_is_the_unit():
    steps = [(100, 150), (120, 160), (90, 180), (100, 140), (110, 150), (100, 130)]
    found = leads({f"seed-{n}": run(*pair) for n, pair in enumerate(steps)}, "previous_token", "induction")
    row = found.iloc[-1]
    gaps = np.log10([b / a for a, b in steps])
    low, high = stats.t.interval(0.95, 5, gaps.mean(), stats.sem(gaps))
    assert (row["run"], row["n"]) == ("", 6)
    assert (row["lead"], row["low"], row["high"]) == (
        pytest.approx(gaps.mean()), pytest.approx(low), pytest.approx(high)
    )  # fmt: skip
    assert row["p"] == pytest.approx(2 / 64)
    assert row["earlier"] == "previous_token"


def test_a_delayed_copy_has_one_lead_and_no_spread():
    """FOR-05's sanity value."""
    found = leads(
        {str(n): run(s, 2 * s) for n, s in enumerate((100, 150, 400))}, "previous_token", "induction"
    )
    row = found.iloc[-1]
    assert (row["lead"], row["low"], row["high"]) == (pytest.approx(math.log10(2)),) * 3


def test_one_run_has_a_lead_and_no_interval_over_runs():
    found = leads({"only": run(100, 200)}, "previous_token", "induction")
    row = found.iloc[-1]
    assert row["lead"] == pytest.approx(math.log10(2))
    assert math.isnan(row["low"])
    assert math.isnan(row["p"])
    assert row["earlier"] == "none"
    assert "one value has no interval" in row["reason"]


def test_both_are_taken_on_one_stimulus_where_there_is_one():
    one = table(
        change("previous_token", 50, stimulus="a"),
        change("previous_token", 100, stimulus="b"),
        change("induction", 200, stimulus="b"),
    )
    assert leads({"run": one}, "previous_token", "induction")["first_step"].iloc[0] == 100
    other = table(change("previous_token", 50, stimulus="a"), change("induction", 200, stimulus="b"))
    assert leads({"run": other}, "previous_token", "induction")["first_step"].iloc[0] == 50


def test_runs_that_lack_one_of_them_are_left_out_and_named():
    found = leads({"both": run(100, 200), "none": run(100, 200, claimed=False), "too": run(100, 220)},
                  "previous_token", "induction")  # fmt: skip
    assert found["reason"].iloc[0] == ""
    assert found["reason"].iloc[1] == "no claimed change of induction"
    assert found["n"].iloc[-1] == 2
    assert "1 of 3 runs do not show both" in found["reason"].iloc[-1]


def test_no_run_that_shows_both_gives_no_number():
    found = leads({"none": run(100, 200, claimed=False)}, "previous_token", "induction")
    assert math.isnan(found["lead"].iloc[-1])
    assert found["earlier"].iloc[-1] == "none"


def test_a_part_that_was_not_looked_at_is_refused():
    with pytest.raises(UnknownName, match="previous_token"):
        leads({"a": run(100, 200)}, "previous_tokn", "induction")

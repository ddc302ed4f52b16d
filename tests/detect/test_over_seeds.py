"""Runs of one configuration together: means and intervals, exact p, refusals where n cannot reach."""

import math

import numpy as np
import pytest
from scipy import stats

from changes import change, table
from ontogeny.detect import over_seeds
from ontogeny.errors import BadArgument

STEPS = (80.0, 100.0, 125.0, 90.0, 110.0)


def runs(steps=STEPS, **said) -> dict:
    """Runs whose best head is another one in each."""
    return {f"seed-{n}": table(change(step=step, layer=1, head=n, **said)) for n, step in enumerate(steps)}


def quiet(count: int, size: float = 0.0) -> dict:
    return {
        f"control-{n}": table(change(size=size, p=0.6, claimed=False, layer=1, head=0)) for n in range(count)
    }


def only(found):
    (row,) = found.to_dict("records")
    return row


def test_the_mean_step_is_that_of_ln_step_with_students_interval():
    row = only(over_seeds(runs()))
    logs = np.log(STEPS)
    low, high = stats.t.interval(0.95, 4, logs.mean(), stats.sem(logs))
    assert row["step"] == pytest.approx(math.exp(logs.mean()))
    assert (row["low"], row["high"]) == (pytest.approx(math.exp(low)), pytest.approx(math.exp(high)))
    assert row["median"] == pytest.approx(100)
    assert (row["shown"], row["runs"]) == (5, 5)
    assert row["where"] == "layer 1 head 0, layer 1 head 1, layer 1 head 2, layer 1 head 3, layer 1 head 4"


def test_each_run_speaks_by_its_own_best_place():
    """Claimed before unclaimed, then the smallest p, then the largest size."""
    one = table(
        change(step=50, size=0.9, p=0.2, claimed=False, layer=0, head=0),
        change(step=100, size=0.3, p=0.005, layer=1, head=0),
        change(step=200, size=0.5, p=0.005, layer=1, head=1),
    )
    other = table(change(step=200, size=0.5, layer=1, head=1))
    row = only(over_seeds({"a": one, "b": other}))
    assert row["step"] == pytest.approx(200)
    assert row["where"] == "layer 1 head 1 (2)"


def test_by_place_every_place_is_a_row_of_its_own():
    both = table(change(step=100, layer=0, head=0), change(step=400, layer=1, head=0))
    found = over_seeds({"a": both, "b": both, "c": table(change(step=100, layer=0, head=0))}, by="place")
    assert found[["layer", "head", "runs", "shown"]].values.tolist() == [[0, 0, 3, 3], [1, 0, 2, 2]]
    assert found["step"].tolist() == pytest.approx([100, 400])


def test_one_run_gives_an_effect_and_no_p_and_says_how_many_are_needed():
    row = only(over_seeds(runs(STEPS[:1])))
    assert row["step"] == pytest.approx(80)
    assert row["size"] == 0.5
    assert all(math.isnan(row[key]) for key in ("low", "high", "p", "p_family", "size_low"))
    assert "one run has no p" in row["reason"]
    assert "17 at 1" in row["reason"], "seeds an arm for one sd"


def test_runs_that_agree_better_than_each_is_known_say_so():
    """All between the same two checkpoints: the gap does not average out."""
    (coarse,) = over_seeds(runs((100.0, 101.0, 102.0), within=1.4))["reason"]
    assert "one run's own interval is wider, 72 to 141" in coarse
    (fine,) = over_seeds(runs((100.0, 150.0, 200.0), within=1.4))["reason"]
    assert "wider" not in fine


def test_equal_runs_have_no_spread_and_their_mean_is_their_step():
    row = only(over_seeds(runs((100.0, 100.0, 100.0))))
    assert row["step"] == row["low"] == row["high"] == pytest.approx(100, rel=1e-12)
    assert row["seeds_needed"] == 4, "what the exact test needs"


def test_runs_that_do_not_show_it_are_counted_and_not_averaged():
    tables = runs(STEPS[:3]) | {"late": table(change(step=None, size=0.01, p=0.4, claimed=False))}
    row = only(over_seeds(tables))
    assert (row["shown"], row["runs"]) == (3, 4)
    assert row["step"] == pytest.approx(100)
    assert row["size"] == pytest.approx((3 * 0.5 + 0.01) / 4), "sizes are of all runs"


def test_what_no_run_claims_has_no_step_and_says_so():
    row = only(over_seeds(quiet(3)))
    assert row["shown"] == 0
    assert math.isnan(row["step"])
    assert "no run claims it" in row["reason"]


def test_runs_against_controls_have_the_exact_p_of_their_labels():
    row = only(over_seeds(runs(), quiet(5)))
    assert row["test"] == "labels"
    assert row["p"] == pytest.approx(2 / math.comb(10, 5))
    assert (row["controls"], row["controls_shown"]) == (5, 0)


def test_no_change_in_a_control_is_a_change_of_size_0():
    """Detectors that find nothing give no size; a series too short to look at is another matter."""
    nothing = {f"c{n}": table(change(size=None, p=None, step=None, claimed=False)) for n in range(5)}
    row = only(over_seeds(runs(), nothing))
    assert row["p"] == pytest.approx(2 / 252)
    short = {name: found.assign(reason="too-short: 3 usable checkpoints") for name, found in nothing.items()}
    row = only(over_seeds(runs(), short))
    assert math.isnan(row["p"])


def test_too_few_runs_are_refused_a_p_with_the_number_that_could():
    row = only(over_seeds(runs(STEPS[:3]), quiet(3)))
    assert math.isnan(row["p"])
    assert "3 + 3 units cannot go below p = 0.1" in row["reason"]
    assert "4 in each" in row["reason"]


def test_among_many_parts_p_is_held_against_the_largest():
    """One part that differs among nine that do not."""
    rng = np.random.default_rng(4)

    def one(shift: float) -> object:
        noise = [change(f"noise_{n}", size=float(rng.normal()), p=0.5, claimed=False) for n in range(9)]
        return table(change("induction", size=float(shift + rng.normal(0, 0.4))), *noise)

    found = over_seeds({str(n): one(1.0) for n in range(5)}, {str(n): one(0.0) for n in range(5)})
    row = found[found["part"] == "induction"].iloc[0]
    assert row["p"] <= row["p_family"]
    assert (found["p_family"] >= found["p"]).all()
    assert found.loc[found["part"] != "induction", "p_family"].min() > 0.05


def test_what_controls_lack_has_no_p_and_says_so():
    """A one-layer control has no layer 1."""
    controls = {f"c{n}": table(change(size=0.0, claimed=False, layer=0, head=0)) for n in range(5)}
    found = over_seeds(runs_at(layer=1), controls, by="place")
    assert math.isnan(found["p"].iloc[0])
    assert "an arm has no run with this number" in found["reason"].iloc[0]


def runs_at(**place: int) -> dict:
    return {f"seed-{n}": table(change(step=step, **place)) for n, step in enumerate(STEPS)}


def test_at_a_place_fixed_beforehand_signs_decide():
    tables = {f"seed-{n}": table(change(size=0.1 * (n + 1), layer=0)) for n in range(6)}
    row = only(over_seeds(tables, by="place"))
    assert (row["test"], row["p"]) == ("signs", 2 / 64)
    few = only(over_seeds(dict(list(tables.items())[:5]), by="place"))
    assert "5 runs cannot go below p = 0.0625; alpha 0.05 needs 6" in few["reason"]


def test_without_controls_the_runs_own_p_are_combined_as_fisher_does():
    row = only(over_seeds(runs()))
    assert row["test"] == "nulls"
    assert row["p"] == pytest.approx(stats.combine_pvalues([0.005] * 5).pvalue)


def test_a_null_that_no_run_has_gives_no_p():
    row = only(over_seeds(runs(p=None)))
    assert math.isnan(row["p"])
    assert "0 runs have a p of their own" in row["reason"]


def test_nothing_at_all_is_an_empty_table_of_the_same_shape():
    empty = over_seeds({"a": table(), "b": table()})
    assert empty.empty
    assert empty.columns.tolist() == over_seeds(runs()).columns.tolist()
    assert empty.dtypes.tolist() == over_seeds(runs()).dtypes.tolist()


def test_another_way_to_hold_together_is_refused():
    with pytest.raises(BadArgument, match="best, place"):
        over_seeds(runs(), by="head")

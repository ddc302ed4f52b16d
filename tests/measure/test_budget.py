"""A budget takes the cheapest parts, the same ones every time, and says of the others why not."""

import json
import time

import pytest

from ontogeny.catalogue import instrument, part
from ontogeny.measure import Request, Session, measure
from ontogeny.measure.budget import PRICES, Prices, seconds_of, too_dear
from ontogeny.measure.checkpoint import Unit
from ontogeny.store.run import Run
from ontogeny.testing import temporary_catalogue, tiny_stimulus
from ontogeny.vocabulary import Status


@pytest.fixture(autouse=True)
def parts_of_their_own():
    with temporary_catalogue():

        @instrument(unit="norm", source="a test")
        def proof_cheap(residual_norms):
            """Mean length.

            Known: no.
            Misleads: no.
            """
            return residual_norms.total / residual_norms.n

        @instrument(unit="norm", source="a test")
        def proof_dear(residual_norms):
            """Mean length, with much ado.

            Known: no.
            Misleads: no.
            """
            started = time.process_time()
            while time.process_time() < started + 0.05:
                pass
            return residual_norms.total / residual_norms.n

        yield


BOTH = ["proof_dear", "proof_cheap"]


def between(home) -> float:
    """Prices what is asked for, and gives a budget that reaches the cheap part and not the dear one."""
    session = Session(Request(home, None, tuple(BOTH), budget=0.0))
    assert len(session.dear) == 2, "nothing is free"
    prices = Prices(**json.loads((home / PRICES).read_text()))
    dear, cheap = (next(u for u in session.units if u.part.name == name) for name in BOTH)
    least, paid = prices.of(cheap)
    return len(session.series.checkpoints) * (least + prices.of(dear, paid)[0] / 2)


def statuses(home) -> dict[str, set]:
    return Run.open(home).table().groupby("part")["status"].agg(set).to_dict()


def test_what_is_too_dear_says_so_and_is_measured_once_there_is_budget(run_of):
    home = run_of("run")
    budget = between(home)
    assert measure(home, BOTH, budget=budget) == 5
    assert statuses(home) == {"proof_cheap": {Status.OK}, "proof_dear": {Status.OVER_BUDGET}}
    table = Run.open(home).table("proof_dear")
    assert len(table) == 5
    assert table["value"].isna().all()
    assert table["reason"].str.contains("5 checkpoints").all()
    prices = (home / PRICES).read_bytes()
    assert measure(home, BOTH, budget=budget) == 0, "nothing is asked twice"
    assert (home / PRICES).read_bytes() == prices
    assert measure(home, BOTH) == 5
    assert statuses(home) == {"proof_cheap": {Status.OK}, "proof_dear": {Status.OK}}
    assert len(Run.open(home).table("proof_dear")) == 10, "no row is left that says otherwise"


def test_a_larger_budget_reaches_it(run_of):
    home = run_of("run")
    budget = between(home)
    measure(home, BOTH, budget=budget)
    assert measure(home, BOTH, budget=1000 * budget) == 5
    assert statuses(home)["proof_dear"] == {Status.OK}


def test_kept_prices_decide(run_of):
    """Whatever a machine is busy with."""
    home = run_of("run")
    between(home)
    prices = json.loads((home / PRICES).read_text())
    dear = next(key for key in prices["units"] if key.startswith("proof_cheap"))
    prices["units"][dear] = 1e6
    other = run_of("other")
    (other / PRICES).write_text(json.dumps(prices))
    measure(other, BOTH, budget=1e5)
    assert statuses(other) == {"proof_cheap": {Status.OVER_BUDGET}, "proof_dear": {Status.OK}}


def test_what_several_share_is_paid_once():
    stimulus = tiny_stimulus("heldout")
    one, other = (Unit(part("instrument", name), "residual", stimulus, "heldout") for name in BOTH)
    shared = {f"residual_norms at residual on {stimulus.hash}": 1.0}
    prices = Prices({stimulus.hash: 2.0}, shared, {})
    assert prices.of(one)[0] == 3.0
    assert not too_dear([one, other], prices, checkpoints=10, budget=30.0)
    assert len(too_dear([one, other], prices, checkpoints=10, budget=29.0)) == 2
    assert not too_dear([one, other], prices, checkpoints=0, budget=0.0)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("15min", 900), ("1.5h", 5400), (" 2 min", 120)]
)
def test_durations(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "min", "15 minutes", "-3s", "1e3"])
def test_no_durations(text):
    with pytest.raises(ValueError, match="no duration"):
        seconds_of(text)

"""A budget takes the cheapest parts, the same ones every time, and says of the others why not."""

import json
import time

import pytest

from ontogeny.catalogue import instrument
from ontogeny.measure import measure
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
            """Mean length, slowly.

            Known: no.
            Misleads: no.
            """
            time.sleep(0.2)
            return residual_norms.total / residual_norms.n

        yield


BOTH = ["proof_dear", "proof_cheap"]


def statuses(home) -> dict[str, set]:
    return Run.open(home).table().groupby("part")["status"].agg(set).to_dict()


def test_what_is_too_dear_says_so_and_is_measured_once_there_is_budget(run_of):
    home = run_of("run")
    assert measure(home, BOTH, budget=1.0) == 5
    assert statuses(home) == {"proof_cheap": {Status.OK}, "proof_dear": {Status.OVER_BUDGET}}
    table = Run.open(home).table("proof_dear")
    assert len(table) == 5
    assert table["value"].isna().all()
    assert table["reason"].str.contains("5 checkpoints").all()
    prices = (home / PRICES).read_bytes()
    assert measure(home, BOTH, budget=1.0) == 0, "nothing is asked twice"
    assert (home / PRICES).read_bytes() == prices
    assert measure(home, BOTH) == 5
    assert statuses(home) == {"proof_cheap": {Status.OK}, "proof_dear": {Status.OK}}
    assert len(Run.open(home).table("proof_dear")) == 10, "no row is left that says otherwise"


def test_a_larger_budget_reaches_it(run_of):
    home = run_of("run")
    measure(home, BOTH, budget=1.0)
    assert measure(home, BOTH, budget=100.0) == 5
    assert statuses(home)["proof_dear"] == {Status.OK}


def test_kept_prices_decide(run_of):
    """Whatever a machine is busy with."""
    home = run_of("run")
    measure(home, BOTH, budget=100.0)
    prices = json.loads((home / PRICES).read_text())
    dear = next(key for key in prices["units"] if key.startswith("proof_cheap"))
    prices["units"][dear] = 1e6
    other = run_of("other")
    (other / PRICES).write_text(json.dumps(prices))
    measure(other, BOTH, budget=100.0)
    assert statuses(other) == {"proof_cheap": {Status.OVER_BUDGET}, "proof_dear": {Status.OK}}


def test_what_several_share_is_paid_once():
    from ontogeny.catalogue import part

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

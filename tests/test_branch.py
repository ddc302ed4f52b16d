"""A branch differs from its parent by its cause alone."""

import pytest

from ontogeny.branch import branch, family
from ontogeny.catalogue import Intervention, intervention
from ontogeny.errors import BadContract, RunExists, UnknownName
from ontogeny.record.train import resume, train
from ontogeny.replay import at
from ontogeny.store.run import Run
from ontogeny.testing import temporary_catalogue
from tiny_recipe import tiny


@pytest.fixture(autouse=True)
def rate():
    with temporary_catalogue():

        @intervention(source="a test")
        class halve_rate(Intervention):
            """Multiply the learning rate; remembers how often it did."""

            extent = frozenset({"optimizer"})

            def __init__(self, *, factor: float = 0.5):
                self.factor, self.times = factor, 0

            def on_gradients(self, state, step):
                self.times += 1
                for group in state["optimizer"].param_groups:
                    group["lr"] *= self.factor

            def sham(self):
                self.factor = 1.0
                return self

            def state_dict(self):
                return {"times": self.times}

            def load_state_dict(self, state):
                self.times = state["times"]

        yield


@pytest.fixture(scope="module")
def parent(tmp_path_factory) -> Run:
    made = tiny(model={"dropout": 0.1}, optimizer={"weight_decay": 0.1}, schedule={"name": "cosine"})
    return train(made, tmp_path_factory.mktemp("runs") / "parent", grade=False)


def digests(run: Run) -> dict[int, int]:
    frame = run.telemetry("model_digest").drop_duplicates("step", keep="last")
    return dict(zip(frame["step"].tolist(), map(int, frame["model_digest"].tolist()), strict=True))


def test_a_sham_and_an_unchanged_branch_equal_the_parent(parent):
    sham = branch(parent, at=9, apply=["halve_rate(factor=0.1)"], out=parent.path.parent / "sham", sham=True)
    plain = branch(parent, at=9, apply=[], out=parent.path.parent / "plain")
    expected = {step: digest for step, digest in digests(parent).items() if step >= 9}
    assert digests(sham) == digests(plain) == expected
    assert sham.outcome == "finished"
    assert sham.checkpoints[-1].hash == parent.checkpoints[-1].hash


def test_an_intervention_acts_in_its_window_only(parent):
    made = branch(parent, at=7, apply=["halve_rate(factor=0.1)"], end=11, out=parent.path.parent / "window")
    mine, theirs = digests(made), digests(parent)
    assert mine[7] == theirs[7]
    assert mine[8] != theirs[8]
    rates = made.telemetry("learning_rate").set_index("step")["learning_rate"]
    plain = parent.telemetry("learning_rate").set_index("step")["learning_rate"]
    assert (rates / plain.loc[8:23]).round(6).dropna().tolist() == [0.1] * 4 + [1.0] * 12
    draws = [r.telemetry("draw").set_index("step")["draw"].loc[8:24].tolist() for r in (made, parent)]
    assert draws[0] == draws[1], "the same data in the same order"
    last = made.checkpoints[-1].document("state")["intervention0"]
    assert last == {"times": 4}


def test_a_branch_can_be_resumed_replayed_and_branched(parent):
    spec = "halve_rate(factor=0.1)"
    whole = branch(parent, at=7, apply=[spec], until=20, out=parent.path.parent / "whole")
    assert whole.telemetry("loss")["step"].max() == 20
    assert at(whole, 15).exact

    def stop(step, _found):
        if step == 13:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        branch(parent, at=7, apply=[spec], until=20, out=parent.path.parent / "cut", progress=stop)
    cut = resume(parent.path.parent / "cut")
    assert digests(cut) == digests(whole)
    twig = branch(whole, at=12, apply=["halve_rate(factor=3)"], end=14, out=parent.path.parent / "twig")
    assert [entry["start"] for entry in twig.identity["interventions"]] == [7, 12]
    assert digests(twig)[12] == digests(whole)[12]
    assert digests(twig)[13] != digests(whole)[13]
    assert at(twig, 20).exact
    children = family(parent.path.parent)
    assert (twig.name, 12) in [(run.name, step) for run, step in children[whole.id]]


def test_wrong_branches_are_refused_before_anything_is_trained(parent):
    out = parent.path.parent / "wrong"
    with pytest.raises(UnknownName, match="did you mean 'halve_rate'"):
        branch(parent, at=7, apply=["halve_rat()"], out=out)
    with pytest.raises(UnknownName, match="factor"):
        branch(parent, at=7, apply=["halve_rate(factr=2)"], out=out)
    for text in ("halve_rate(2)", "halve_rate(factor=open('x'))", "1 + 1", "halve_rate("):
        with pytest.raises(BadContract, match="cannot be read"):
            branch(parent, at=7, apply=[text], out=out)
    with pytest.raises(BadContract, match="ends before it begins"):
        branch(parent, at=24, apply=[], out=out)
    assert not out.exists()
    with pytest.raises(RunExists):
        branch(parent, at=7, apply=[], out=parent.path)

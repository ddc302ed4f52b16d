"""What was measured, and what a look into a checkpoint shows, over a tiny run that was really trained."""

import math
import shutil
import threading

import numpy as np
import pytest
import torch

from dashboard_runs import Client, made, state_of
from ontogeny.dashboard.looking import Looking
from ontogeny.dashboard.server import Server
from ontogeny.detect import detect
from ontogeny.errors import NotObservable
from ontogeny.measure import measure
from ontogeny.record.train import train
from ontogeny.series import Series
from ontogeny.store.run import Run
from ontogeny.subject import open_subject
from tiny_recipe import tiny

PARTS = ("attention_entropy", "effective_rank", "heldout_loss", "token_loss", "subspace_overlap")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    run = train(tiny(), folder / "tiny", grade=False)
    measure(run.path, PARTS)
    detect(run.path)
    return folder


@pytest.fixture(scope="module")
def client(home, tmp_path_factory):
    server = Server(home, tmp_path_factory.mktemp("cache"))
    yield Client(server)
    server.close()


@pytest.fixture(scope="module")
def run(client):
    return client.ids["tiny"]


def test_a_run_lists_its_parts(client, run):
    page = client.get(f"/api/runs/{run}")
    parts = {part["name"]: part for part in page["parts"]}
    assert set(parts) == set(PARTS)
    entropy = parts["attention_entropy"]
    assert (entropy["shape"], entropy["axes"], entropy["unit"]) == ("head", ["layer", "head"], "nats")
    assert entropy["stimuli"] == ["heldout"]
    assert set(parts["effective_rank"]["stimuli"]) == {"", "heldout"}
    assert parts["token_loss"]["arrays"]
    assert entropy["meaning"]
    assert entropy["misleads"]
    steps = [one["step"] for one in page["checkpoints"]]
    assert steps == [one.step for one in Run.open(client.server.shelf.path / "tiny").checkpoints]
    tokens = [one["tokens"] for one in page["checkpoints"]]
    assert tokens == sorted(tokens)
    seconds = [one["seconds"] for one in page["checkpoints"]]
    assert 0 <= seconds[0] < seconds[1]
    assert seconds == sorted(seconds)
    assert seconds[-1] <= page["seconds"]
    assert page["has"] == {"patterns": True, "tokens": True, "samples": False, "spectra": False}


def test_rows_are_the_numbers_of_the_labelled_array(client, run, home):
    header, (columns,) = client.get(f"/api/runs/{run}/rows", part="attention_entropy")
    expected = Run.open(home / "tiny").rows("attention_entropy")
    shape = len(header["places"]), len(header["steps"])
    values = columns["values"].reshape(shape)
    for row, place in enumerate(header["places"]):
        told = expected.sel(place).sel(step=header["steps"]).to_numpy()
        assert values[row].tolist() == told.astype("f4").tolist()
    assert set(columns["status"].tolist()) == {0}
    assert header["status"] == {"ok": math.prod(shape)}


def test_what_is_undefined_has_its_reason_and_no_number(client, run):
    header, (columns,) = client.get(f"/api/runs/{run}/rows", part="subspace_overlap")
    lost = columns["status"] == 1
    assert lost.any()
    assert np.isnan(columns["values"][lost]).all()
    assert header["reasons"]["no-target"]


def test_weights_and_residuals_of_one_part_are_told_apart(client, run):
    at = lambda **query: client.get(f"/api/runs/{run}/rows", part="effective_rank", **query)[0]
    assert at()["stimulus"] == "heldout"
    assert "matrix" in at(stimulus="")["axes"]
    refused = client.get(f"/api/runs/{run}/rows", part="effective_rank", stimulus="none", status=400)
    assert "heldout" in refused["allowed"]
    assert client.get(f"/api/runs/{run}/rows", part="nothing", status=400)["allowed"]


def test_arrays_come_over_steps(client, run, home):
    header, (columns,) = client.get(f"/api/runs/{run}/vector", part="token_loss")
    expected = Run.open(home / "tiny").arrays("token_loss").stacked()
    assert header["shape"] == list(expected.shape[1:])
    told = columns["values"].reshape(expected.shape)
    assert np.array_equal(told, expected.numpy().astype("f4"), equal_nan=True)
    header, _ = client.get(f"/api/runs/{run}/vector", part="token_loss", step=12)
    assert header["steps"] == [12]
    for query in ({"step": 13}, {"place": "layer:0"}, {"place": "nowhere:1"}, {"place": "layer:x"}):
        assert client.get(f"/api/runs/{run}/vector", part="token_loss", status=400, **query)["error"]


def test_transitions_are_all_that_was_looked_for(client, run, home):
    found = client.get("/api/transitions", runs=run)
    table = Run.open(home / "tiny").transitions
    assert len(found) == len(table)
    assert [one["verdict"] for one in found] == table["verdict"].tolist()
    assert {one["run"] for one in found} == {run}
    heads = [one for one in found if one["part"] == "attention_entropy"]
    assert {"layer", "head"} == set(heads[0]["place"])


def test_views_of_reports_are_described(client, run):
    for view in ("learning_curve", "head_timeline", "transition_table", "layer_by_step", "samples"):
        found = client.get("/api/figures", runs=run, view=view)
        assert found["panels"]
    assert client.get("/api/figures", runs=run, view="head_grid", part="attention_entropy", most=2)["panels"]
    assert client.get("/api/figures", runs=run, view="nothing", status=400)["allowed"]
    assert client.get("/api/figures", runs=run, view="head_grid", most="few", status=400)


def test_a_look_shows_the_models_own_patterns_and_losses(client, run, home):
    before = state_of(home)
    header, (columns,) = client.get(f"/api/runs/{run}/pattern", step=12, layer=0, head=1, sequence=2)
    ids = torch.tensor([header["ids"]])
    series = Series.open(home / "tiny")
    seen = {}
    subject = open_subject(series.at(12))
    keep = lambda place, pattern: seen.__setitem__(place["layer"], pattern.clone())
    logits = subject.run(ids, taps={"attention": keep})
    pattern = columns["values"].reshape(header["query"], header["key"])
    assert pattern == pytest.approx(seen[0][0, 1].numpy(), abs=1e-6)
    assert pattern.sum(1) == pytest.approx(np.ones(len(pattern)), abs=1e-5)
    assert header["tokens"] == [str(number) for number in header["ids"]]

    told = client.get(f"/api/runs/{run}/tokens", step=12, against=0, sequence=2)
    assert told["tokens"] == header["tokens"]
    losses = torch.nn.functional.cross_entropy(logits[0, :-1], ids[0, 1:], reduction="none").tolist()
    pairs = [(a, b) for a, b in zip(told["loss"][1:], losses, strict=True) if a != "NaN"]
    assert told["loss"][0] is None
    assert [a for a, _ in pairs] == pytest.approx([b for _, b in pairs], abs=1e-5)
    assert len(told["before"]) == len(told["loss"])

    for query in ({"step": 13}, {"layer": 7}, {"head": 9}, {"sequence": 10**6}, {"stimulus": "nothing"}):
        assert client.get(f"/api/runs/{run}/pattern", status=400, **{"step": 12, **query})["error"]
    assert state_of(home) == before


def test_a_look_that_takes_too_long_is_given_up(client, run, home, tmp_path):
    looking = Looking(tmp_path, seconds=0.05)
    entry = client.server.shelf.entry(run)
    with pytest.raises(NotObservable, match="too long"):
        looking.pattern(entry, {"step": "6"})
    assert looking.child._process is None
    assert list((tmp_path / "looks").glob("*.job")) == []


def test_a_process_that_dies_of_a_look_says_so(client, run, tmp_path):
    looking = Looking(tmp_path)
    process = looking.child._running()
    threading.Timer(0.2, process.kill).start()
    with pytest.raises(NotObservable, match="died"):
        looking.pattern(client.server.shelf.entry(run), {"step": "6"})
    assert looking.child._process is None


def test_a_run_that_cannot_be_looked_into_says_why(tmp_path, serving):
    made(tmp_path, "bare", [(1, {"loss": 1.0})])
    bare = serving(tmp_path)
    for what in ("pattern", "tokens"):
        refused = bare.get(f"/api/runs/{bare.ids['bare']}/{what}", status=400)
        assert "no checkpoint" in refused["error"]


def test_a_series_of_others_is_shown_by_what_was_measured(home, tmp_path, serving):
    """Checkpoints without a run: the folder is copied, and measured as anybody's."""
    foreign = tmp_path / "foreign"
    for step in (0, 12, 24):
        shutil.copytree(home / "tiny" / "checkpoints" / f"{step:06d}", foreign / f"step{step}")
    measure(foreign, ("effective_rank",))
    for path in (foreign, tmp_path):
        client = serving(path)
        (line,) = client.get("/api/collection")["runs"]
        assert (line["kind"], line["name"]) == ("series", "foreign")
        page = client.get(f"/api/runs/{line['id']}")
        assert [one["step"] for one in page["checkpoints"]] == [0, 12, 24]
        assert {one["seconds"] for one in page["checkpoints"]} == {None}
        header, _ = client.get(f"/api/runs/{line['id']}/rows", part="effective_rank")
        assert header["steps"] == [0, 12, 24]
        assert client.get("/api/series", runs=line["id"], metric="loss")[0]["series"][0]["points"] == 0

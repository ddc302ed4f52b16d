"""The table of runs: paged, searched and sorted on the server; and nothing in a run is touched."""

import json
import math
import shutil

import pytest

from dashboard_runs import losses, made, recipe, state_of
from ontogeny.store.run import Run


@pytest.fixture
def home(tmp_path):
    for seed in range(5):
        made(
            tmp_path, f"seed-{seed}", losses([3.0, 2.0 - seed]), recipe=recipe(seed, lr=0.1 * (1 + seed % 2))
        )
    parent = Run.open(tmp_path / "seed-0")
    made(
        tmp_path,
        "branch",
        losses([1.5], first=2),
        parent={"run": parent.id, "name": "seed-0", "step": 1},
        interventions=[{"spec": "freeze(part='head')", "start": 1, "end": 4, "sham": True}],
    )
    return tmp_path


def test_a_run_says_what_it_is(home, serving):
    client = serving(home)
    runs = {run["name"]: run for run in client.get("/api/collection")["runs"]}
    branch, parent = runs["branch"], runs["seed-0"]
    assert branch["parent"] == parent["id"]
    assert (branch["forked_at"], branch["interventions"]) == (1, ["freeze(part='head') from 1 to 4 (sham)"])
    assert (parent["status"], parent["steps"], parent["seed"]) == ("finished", 2, 0)
    assert parent["config"] == {"optimizer.lr": 0.1, "training.seed": 0, "training.steps": 9}
    assert parent["last"] == {"loss": 2.0}
    assert runs["seed-2"]["group"] == parent["group"]
    assert len({runs[name]["group"] for name in ("seed-0", "seed-1", "branch")}) == 3
    assert all(len(run["id"]) >= 12 and run["id"].isalnum() for run in runs.values())


def test_pages_follow_one_another(home, serving):
    client = serving(home)
    pages = [client.get("/api/collection", page=page, size=4) for page in range(3)]
    assert [len(page["runs"]) for page in pages] == [4, 2, 0]
    assert {page["total"] for page in pages} == {6}
    names = [run["name"] for page in pages for run in page["runs"]]
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("seed-3", ["seed-3"]),
        ("SEED", [f"seed-{seed}" for seed in range(5)]),
        ("optimizer.lr=0.2", ["seed-1", "seed-3"]),
        ("lr=0.2 seed=3", ["seed-3"]),
        ("lr>0.15", ["seed-1", "seed-3"]),
        ("seed<2 seed-", ["seed-0", "seed-1"]),
        ("freeze", ["branch"]),
        ("nothing", []),
        ("lr=", []),
        ("=", ["branch"]),
    ],
)
def test_search_is_by_words_and_by_configuration(home, serving, text, names):
    found = serving(home).get("/api/collection", q=text)
    assert [run["name"] for run in found["runs"]] == names
    assert found["total"] == len(names)


def test_sorting_is_by_any_column_and_what_lacks_it_comes_last(home, serving):
    client = serving(home)
    names = lambda sort: [run["name"] for run in client.get("/api/collection", sort=sort)["runs"]]
    assert names("last.loss")[:2] == ["seed-4", "seed-3"]
    assert names("-seed")[:2] == ["seed-4", "seed-3"]
    assert names("config.optimizer.lr")[-2:] == ["seed-1", "seed-3"]
    assert names("-last.nothing") == names("")
    keys = [column["key"] for column in client.get("/api/collection")["columns"]]
    for key in keys:
        client.get("/api/collection", sort=key)
    assert client.get("/api/collection", sort="__class__", status=400)["allowed"]
    assert "config.optimizer.lr" in keys
    assert "config.training.steps" not in keys


def test_metrics_are_paged_and_searched(tmp_path, serving):
    records = [
        (step, {f"layer{i}/norm": float(i * step) for i in range(40)} | {"loss": 1.0}) for step in (1, 2)
    ]
    made(tmp_path, "many", records)
    client = serving(tmp_path)
    run = client.ids["many"]
    found = client.get(f"/api/runs/{run}/metrics", prefix="layer1", size=5, page=1)
    assert found["total"] == 11
    assert found["names"][0] == {"name": "layer14/norm", "last": 28.0, "count": 2}
    assert client.get(f"/api/runs/{run}/metrics", q="NORM")["total"] == 40
    page = client.get(f"/api/runs/{run}")
    assert page["metrics"] == 41
    assert {"prefix": "", "count": 1} in page["prefixes"]


def test_runs_that_appear_are_found_and_those_that_go_are_gone(home, serving):
    client = serving(home)
    before = client.ids
    made(home, "later", losses([1.0]))
    client.server.shelf._listed = 0.0
    assert set(client.ids) - set(before) == {"later"}
    assert {name: key for name, key in client.ids.items() if name in before} == before


def test_a_server_reads_only(home, serving):
    (home / "seed-0" / ".writer").write_text("process 1 on elsewhere\n")
    before = state_of(home)
    client = serving(home)
    for run in client.ids.values():
        client.get(f"/api/runs/{run}")
        client.get(f"/api/runs/{run}/metrics")
        client.get("/api/series", runs=run, metric="loss", smooth=0.5)
        client.get("/api/transitions", runs=run)
        client.get(f"/api/runs/{run}/samples")
        client.get("/api/figures", runs=run, view="learning_curve")
    client.get("/api/tree")
    client.server.close()
    assert state_of(home) == before


def test_what_was_read_beforehand_is_at_hand(home, serving, monkeypatch):
    client = serving(home)
    client.server.warm()
    monkeypatch.setattr("ontogeny.dashboard.summary.summarised", lambda entry: pytest.fail(entry.name))
    assert [run["steps"] for run in client.get("/api/collection", sort="-last.loss")["runs"]] == [2] * 6
    assert len(client.get("/api/tree")["nodes"]) == 6


def test_a_second_server_need_not_read_the_journals_again(home, serving, monkeypatch):
    client = serving(home)
    first = client.get("/api/collection")
    client.server.close()
    monkeypatch.setattr("ontogeny.dashboard.summary.summarised", lambda entry: pytest.fail(entry.name))
    assert serving(home).get("/api/collection")["runs"] == first["runs"]


def test_nan_is_a_name_in_json(tmp_path, serving):
    made(tmp_path, "lost", losses([1.0, math.nan]))
    client = serving(tmp_path)
    text = client.http.get("/api/collection").content
    assert b"NaN" in text
    found = json.loads(text, parse_constant=pytest.fail)
    assert found["runs"][0]["last"] == {"loss": "NaN"}


def test_another_run_in_its_place_is_another_run(tmp_path, serving):
    run = made(tmp_path, "one", losses([1.0, 2.0]))
    client = serving(tmp_path)
    before = client.get("/api/collection")["runs"][0]
    shutil.rmtree(run.path)
    made(tmp_path, "one", losses([5.0]), title="anew")
    client.get("/api/collection")
    client.server.shelf._listed = 0.0
    (after,) = client.get("/api/collection")["runs"]
    assert (after["title"], after["last"]) == ("anew", {"loss": 5.0})
    assert after["id"] != before["id"]
    client.get(f"/api/runs/{before['id']}", status=404)
    _, (one,) = client.get("/api/series", runs=after["id"], metric="loss")
    assert one["first"].tolist() == [5.0]

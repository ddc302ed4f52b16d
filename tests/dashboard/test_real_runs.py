"""Runs as they may be: with hostile names, damaged, being written, resumed while they are shown."""

import os
import threading

import pytest

from dashboard_runs import attempt, framed, losses, made, recipe, state_of
from ontogeny.dashboard.courses import series
from ontogeny.dashboard.queries import Ask
from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import JournalWriter
from ontogeny.store.run import Run

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"'`;--",
    "‮txt.exe‬",
    "🙂‍↔️",
    "../../etc/passwd",
    "..",
    "C:\\windows\\CON",
    "a" * 300,
    "日本語",
    "\u00e9",
    "e\u0301",
    "new\nline\ttab",
    "nul\0byte",
    "{{constructor}}",
    "%2e%2e%2f",
    "__proto__",
    " ",
]


def test_hostile_names_come_out_as_data_and_make_no_file(tmp_path, serving):
    home = tmp_path / "runs"
    names = [name for name in HOSTILE if "/" not in name and "\0" not in name and name not in ("..",)]
    for number, name in enumerate(names):
        folder = name.encode()[:200].decode(errors="ignore")
        made(home, folder, [(1, {metric: float(number) for metric in HOSTILE})], title=name)
    before = state_of(tmp_path)
    client = serving(home)
    runs = client.get("/api/collection", size=500)["runs"]
    assert sorted(run["title"] for run in runs) == sorted(names)
    for run in runs:
        listed = client.get(f"/api/runs/{run['id']}/metrics", size=500)["names"]
        assert [one["name"] for one in listed] == HOSTILE
        for metric in HOSTILE:
            header, series = client.get("/api/series", runs=run["id"], metric=metric)
            assert header["metric"] == metric
            assert series[0]["count"].tolist() == [1]
    assert client.http.get("/api/collection").headers["content-type"] == "application/json"
    client.server.close()
    assert state_of(tmp_path) == before


def damaged(home, kind):
    run = home / "hurt"
    journal = run / "journal" / "000.journal"
    if kind == "torn":
        os.truncate(journal, journal.stat().st_size * 3 // 4)
    elif kind == "flipped":
        data = bytearray(journal.read_bytes())
        data[len(data) // 2] ^= 0x10
        journal.write_bytes(data)
    elif kind == "empty":
        os.truncate(journal, 0)
    elif kind == "garbage":
        journal.write_bytes(os.urandom(5000))
    elif kind == "no journal":
        journal.unlink()
    elif kind == "identity":
        text = (run / "run.json").read_text()
        (run / "run.json").write_text(text.replace("hurt", "hurl"))
    elif kind == "not json":
        (run / "run.json").write_text("{")
    elif kind == "rows":
        (run / "rows" / "a.parquet").write_bytes(b"PAR1 nothing")
    elif kind == "transitions":
        (run / "transitions.parquet").write_bytes(b"PAR1")
    elif kind == "compacted":
        journal.rename(journal.with_suffix(".parquet"))


KINDS = "torn flipped empty garbage identity rows transitions compacted".split()  # noqa: SIM905


@pytest.mark.parametrize("kind", [*KINDS, "no journal", "not json"])
def test_a_damaged_run_is_shown_as_far_as_it_can_be(tmp_path, serving, kind):
    made(tmp_path, "whole", losses([2.0, 1.0]))
    run = Run.create(tmp_path / "hurt", {"title": "hurt", "recipe": recipe()})
    attempt(run, 0, losses([3.0] * 40), outcome=None)
    damaged(tmp_path, kind)
    client = serving(tmp_path)
    runs = {run["name"]: run for run in client.get("/api/collection")["runs"]}
    assert runs["whole"]["last"] == {"loss": 1.0}
    key = runs["hurt"]["id"]
    page = client.get(f"/api/runs/{key}")
    header, _ = client.get("/api/series", runs=f"{key},{runs['whole']['id']}", metric="loss")
    assert header["series"][-1]["points"] == 2
    client.get("/api/tree")
    client.get("/api/transitions", runs=key)
    if kind in ("torn", "flipped"):
        assert 20 < header["series"][0]["points"] < 40
    if kind in ("identity", "not json"):
        assert page["damage"]
    if kind == "flipped":
        assert page["attempts"][0]["damage"]
    if kind == "rows":
        assert page["measured_damage"]


def test_a_run_that_is_being_written_is_followed(tmp_path, serving):
    run = Run.create(tmp_path / "live", {"title": "live"})
    with JournalWriter(run.path / "journal" / "000.journal") as writer:
        client = serving(tmp_path)
        key = client.ids["live"]
        for step in range(1, 200):
            writer.append(step, {"loss": 1.0 / step})
            if step % 20 == 0:
                client.server.shelf.entry(key).look(0.0)
                header, (one,) = client.get("/api/series", runs=key, metric="loss", most=1000)
                assert header["series"][0]["points"] == step
                assert one["first"][-1] == pytest.approx(1.0 / step)
        assert client.get("/api/collection")["runs"][0]["status"] == "running"


def test_a_run_that_is_resumed_while_it_is_shown(tmp_path, serving):
    run = made(tmp_path, "one", losses([1.0] * 10))
    client = serving(tmp_path)
    key = client.ids["one"]
    assert len(client.get("/api/series", runs=key, metric="loss")[0]["series"]) == 1
    attempt(run, 1, losses([2.0] * 10, first=6), outcome=None)
    client.server.shelf.entry(key).look(0.0)
    header, series = client.get("/api/series", runs=key, metric="loss")
    assert [(one["superseded"], one["points"]) for one in header["series"]] == [(False, 15), (True, 5)]
    assert series[0]["first"].tolist() == [1.0] * 5 + [2.0] * 10
    compact_journal(run.path / "journal" / "001.journal")
    client.server.shelf.entry(key).look(0.0)
    again, after = client.get("/api/series", runs=key, metric="loss")
    assert again["series"] == header["series"]
    assert after[0]["first"].tolist() == series[0]["first"].tolist()


def test_many_may_ask_at_once_while_a_run_is_written(tmp_path, serving):
    """Every answer is a whole prefix of the run: bucket by bucket what was written, and no shorter than the
    answer before."""
    run = Run.create(tmp_path / "live", {"title": "live"})
    with JournalWriter(run.path / "journal" / "000.journal") as writer:
        writer.append(1, {"loss": 1.0})
        server = serving(tmp_path).server
        entry, faults = server.shelf.entries()[0], []

        def asking(scale: str) -> None:
            known = 0
            for _ in range(40):
                ask = Ask.of({"metric": "loss", "most": "4000", "scale": scale, "smooth": "0.1"})
                header, (one,) = framed(series([entry], ask))
                points = header["series"][0]["points"]
                if points < known or one["first"].tolist() != one["left"].tolist():
                    faults.append((points, known))
                known = points
                entry.look(0.0)

        threads = [threading.Thread(target=asking, args=("linear",)) for _ in range(4)]
        for one in threads:
            one.start()
        for step in range(2, 900):
            writer.append(step, {"loss": float(step)})
        for one in threads:
            one.join()
    assert faults == []

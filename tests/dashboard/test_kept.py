"""What is kept of long strands is what would be made again, and nothing is believed that is not whole."""

import os
import time

import numpy as np
import pytest

from dashboard_runs import attempt, losses, made
from ontogeny.dashboard import kept as module
from ontogeny.dashboard.cache import prune
from ontogeny.store.run import Run


@pytest.fixture
def home(tmp_path, monkeypatch):
    for place in ("kept", "pyramid"):
        monkeypatch.setattr(f"ontogeny.dashboard.{place}.LONG", 500)
    monkeypatch.setattr(module, "RESTING", -1.0)
    values = np.random.default_rng(0).standard_normal(2000)
    values[[5, 700]] = np.nan
    made(tmp_path, "long", losses(values[:1200]), losses(values[1000:], first=1001))
    return tmp_path


def ask(client, **query):
    return client.http.get(
        "/api/series", params={"runs": client.ids["long"], "metric": "loss", **query}
    ).content


def files(client):
    client.server.shelf.kept._writing.submit(lambda: None).result(30)
    return sorted((client.server.shelf.cache / "strands").iterdir())


QUERIES = (
    {"most": 40},
    {"most": 4000},
    {"smooth": 0.2},
    {"from": 10, "to": 90, "scale": "step"},
    {"x": "time"},
)


def test_a_second_server_answers_from_what_is_kept(home, serving, monkeypatch):
    client = serving(home)
    answers = [ask(client, **query) for query in QUERIES]
    assert len(files(client)) > 5
    client.server.close()
    again = serving(home)
    monkeypatch.setattr("ontogeny.dashboard.attempts.Attempt._open", lambda self: pytest.fail("it was read"))
    assert [ask(again, **query) for query in QUERIES] == answers


def test_what_is_damaged_is_made_again(home, serving):
    client = serving(home)
    answer = ask(client, most=40)
    written = files(client)
    client.server.close()
    for path in written:
        data = bytearray(path.read_bytes())
        for change in (len(data) // 2, len(data) - 1):
            changed = bytearray(data)
            changed[change] ^= 1
            path.write_bytes(changed)
            assert ask(serving(home), most=40) == answer
        path.write_bytes(data[: len(data) // 2])
        assert ask(serving(home), most=40) == answer
        path.unlink()
        assert ask(serving(home), most=40) == answer
        path.write_bytes(data)


def test_a_run_that_went_on_is_read_again(home, serving):
    client = serving(home)
    ask(client, most=40)
    files(client)
    client.server.close()
    attempt(Run.open(home / "long"), 2, losses([7.0] * 30, first=2001))
    header, series = serving(home).get("/api/series", runs=client.ids["long"], metric="loss", most=40)
    assert header["series"][0]["total"] == 2030
    assert series[0]["last"][-1] == 7.0


def test_a_run_that_does_not_rest_is_not_kept(home, serving, monkeypatch):
    monkeypatch.setattr(module, "RESTING", 60.0)
    client = serving(home)
    ask(client)
    assert not (client.server.shelf.cache / "strands").exists()


def test_a_cache_that_cannot_be_written_is_done_without(home, serving):
    client = serving(home)
    client.server.shelf.cache.mkdir(parents=True, exist_ok=True)
    (client.server.shelf.cache / "strands").write_text("a file in its place")
    assert len(ask(client, most=40)) > 100
    client.server.close()


def test_the_longest_unused_goes_when_there_is_too_much(tmp_path):
    for number in range(5):
        path = tmp_path / "a" / f"{number}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * 100)
        os.utime(path, (time.time() - 100 * number,) * 2)
    prune(tmp_path, largest=250)
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["0", "1"]
    prune(tmp_path / "nowhere", largest=1)

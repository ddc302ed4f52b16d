"""The engine: the dead are retried twice, errors are final, an interruption leaves order."""

import os
import signal
import threading
import time

import pytest

from ontogeny.errors import UnknownName
from ontogeny.store.documents import read_json
from ontogeny.sweep.crew import LocalCrew, cause_of_death
from ontogeny.sweep.engine import crew_of, work_through
from ontogeny.sweep.ledger import Ledger, State
from ontogeny.sweep.task import Task
from sweep_works import marks, work


@pytest.fixture
def go(tmp_path):
    """`go({name: kind}, workers)`: the ledger after that work; `go.folder` holds the marks."""

    def through(kinds: dict[str, str], workers: int = 2, **more) -> Ledger:
        tasks = [Task(name, work, (str(tmp_path), name, kind)) for name, kind in kinds.items()]
        ledger = Ledger(tmp_path / "sweep.json", list(kinds))
        work_through(tasks, LocalCrew(workers), ledger, **more)
        return ledger

    through.folder = tmp_path
    return through


def test_every_way_to_end(go):
    heard, started, over = [], [], []
    kinds = {
        "a": "plain",
        "b": "killed",
        "c": "killed once",
        "d": "wrong",
        "e": "hungry once",
        "f": "defect",
        **{str(number): "plain" for number in range(10)},
    }
    ledger = go(
        kinds,
        hear=lambda name, state, facts: heard.append((name, state)),
        starting=lambda task: started.append(task.name),
        over=lambda task: over.append(task.name),
    )
    assert ledger.names(State.FAILED) == ["b", "d", "f"]
    assert ledger.names(State.FINISHED) == ["a", "c", "e", *map(str, range(10))]
    attempts = {name: entry.attempts for name, entry in ledger.entries.items()}
    assert attempts == {**dict.fromkeys(kinds, 1), "b": 3, "c": 2, "e": 2}
    assert attempts == {name: len(marks(go.folder, name)) for name in kinds}, "nothing is done twice"
    killed = "the worker was killed by SIGKILL (by hand, or because memory ran out)"
    assert ledger["b"].reasons == [killed] * 3
    assert ledger["c"].reasons == [killed]
    assert ledger["e"].reasons == ["out of memory: no more"]
    assert "BadContract: this cannot be done\n  to do:    do something else" in ledger["d"].reasons
    assert ledger["f"].reasons[0].startswith("ZeroDivisionError: by zero (sweep_works.py, line ")
    used = {pid for name in kinds for pid in marks(go.folder, name)}
    assert 3 <= len(used) <= 6, "a worker is kept until it dies"
    assert os.getpid() not in used
    assert sorted(started) == sorted(over) == sorted(kinds)
    assert [state for name, state in heard if name == "c"] == ["running", "waiting", "running", "finished"]
    told = read_json(go.folder / "sweep.json")["tasks"]
    assert told["b"] == {"state": "failed", "attempts": 3, "reasons": [killed] * 3}


def test_an_interruption_stops_the_workers_and_is_told(go, interruptible):
    begun = threading.Event()

    def interrupt():
        begun.wait(30)
        while not (marks(go.folder, "a") and marks(go.folder, "b")):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        go({"a": "slow", "b": "slow", "c": "plain"}, hear=lambda *_: begun.set())
    thread.join()
    assert time.monotonic() - started < 50, "the workers did not sleep on"
    told = read_json(go.folder / "sweep.json")["tasks"]
    assert {name: task["state"] for name, task in told.items()} == dict.fromkeys("abc", "stopped")
    for name in "ab":
        with pytest.raises(ProcessLookupError):
            os.kill(marks(go.folder, name)[0], 0)
    ledger = go({"a": "plain", "b": "plain", "c": "plain"}, workers=1)
    assert [ledger[name].attempts for name in "abc"] == [2, 2, 1], "the account goes on"
    assert ledger.names(State.FINISHED) == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["{", "[]", '{"tasks": {"a": {}}}', '{"tasks": 3}'])
def test_an_unreadable_account_is_begun_anew(tmp_path, text):
    (tmp_path / "sweep.json").write_text(text)
    assert Ledger(tmp_path / "sweep.json", ["a"])["a"].attempts == 0
    assert read_json(tmp_path / "sweep.json")["tasks"]["a"]["state"] == "waiting"


def test_the_account_of_other_tasks_is_kept(tmp_path):
    first = Ledger(tmp_path / "sweep.json", ["a", "b"])
    first["a"].state, first["b"].attempts = State.FINISHED, 2
    first.write(now=True)
    second = Ledger(tmp_path / "sweep.json", ["b", "c"])
    assert list(second.entries) == ["b", "c"]
    assert second["b"].attempts == 2
    told = read_json(tmp_path / "sweep.json")["tasks"]
    assert {name: task["state"] for name, task in told.items()} == {
        "a": "finished",
        "b": "waiting",
        "c": "waiting",
    }


def test_causes_of_death():
    assert cause_of_death(-11) == "the worker was killed by SIGSEGV"
    assert cause_of_death(1) == "the worker ended with exit status 1"


def test_an_unknown_engine_is_refused():
    with pytest.raises(UnknownName, match="local, ray"):
        crew_of("slurm", 2)

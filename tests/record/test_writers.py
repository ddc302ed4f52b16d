"""kill -9 in thinning, branching and saving; two writers; workers; a full volume."""

import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import time
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest
import torch
from torch import nn

from children import child, ended
from ontogeny.branch import branch
from ontogeny.errors import DiskFull, OntogenyError, RunExists, RunHeld
from ontogeny.record.recorder import Recorder
from ontogeny.record.train import resume, train
from ontogeny.replay import at, materialise, thin
from ontogeny.store.run import Run
from spawned_works import refused
from tiny_recipe import tiny

SPAWN = multiprocessing.get_context("spawn")

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")

RECIPE = tiny(
    model={"width": 8, "heads": 1, "mlp": "none"},
    objective={"batch": 2},
    training={"steps": 20},
    recording={"every": 2, "dense_until": 0, "evaluate": 0},
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Run:
    return train(RECIPE, tmp_path_factory.mktemp("whole") / "run", grade=False)


def digests(run: Run) -> dict[int, int]:
    if "model_digest" not in run.metrics:  # killed before its first record
        return {}
    frame = run.telemetry("model_digest").drop_duplicates("step", keep="last")
    return dict(zip(frame["step"].tolist(), map(int, frame["model_digest"].tolist()), strict=True))


def kept_thinning(path: Path) -> None:
    """Thin to the ends and write everything again, for ever."""
    while True:
        thin(Run.open(path), 2)
        materialise(Run.open(path), 1, 19)


def kept_branching(path: Path) -> None:
    for number in range(1000):
        branch(path, at=6, apply=[], out=path.parent / f"branch{number}")


def kept_saving(path: Path) -> None:
    for number in range(1000):
        train(RECIPE, path.parent / f"saving{number}", grade=False)


@pytest.mark.parametrize("trials", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_kill_nine_while_thinning_branching_and_saving(whole, tmp_path, trials):
    rng = random.Random(int(time.time()) % 100_000)
    for trial in range(trials):
        path = tmp_path / str(trial) / "run"
        shutil.copytree(whole.path, path, symlinks=True)
        work = (kept_thinning, kept_branching, kept_saving)[trial % 3]
        number = child(lambda work=work, path=path: work(path))
        time.sleep(rng.uniform(0.02, 0.7))
        os.kill(number, signal.SIGKILL)
        assert ended(number) == -signal.SIGKILL, "it was still at work"
        for manifest in path.parent.glob("*/run.json"):
            run = Run.open(manifest.parent)
            assert run.verify() == []
            with run.held():
                assert not list(run.path.glob("checkpoints/.*"))
            expected = digests(whole)
            assert digests(run).items() <= expected.items()
            for checkpoint in run.checkpoints:
                assert int(checkpoint.manifest.metadata["model_digest"], 16) == expected[checkpoint.step]
            if run.checkpoints and run.outcome != "finished":
                assert resume(run.path).outcome == "finished"
        assert [c.step for c in Run.open(path).checkpoints][-1] == 20
        assert at(path, 13).exact
        shutil.rmtree(path.parent)


def small() -> tuple[nn.Module, torch.optim.Optimizer]:
    model = nn.Linear(4, 4)
    return model, torch.optim.SGD(model.parameters(), lr=0.01)


@pytest.mark.parametrize("trials", [5, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("there", [False, True], ids=["new", "resumed"])
def test_of_two_writers_one_wins_and_the_other_is_told(tmp_path, trials, there):
    for trial in range(trials):
        path, told = tmp_path / str(trial), tmp_path / f"{trial}.txt"
        if there:
            Recorder(path, *small()).close()
        start = time.monotonic() + 0.05

        def race(path=path, told=told, start=start):
            model, optimizer = small()
            while time.monotonic() < start:
                pass
            try:
                recorder = Recorder(path, model, optimizer, resume=there)
            except (RunHeld, RunExists) as error:
                told.write_text(f"{type(error).__name__} {error}")
                return
            for _ in range(20):
                recorder.step(float(os.getpid()))
                time.sleep(0.002)
            while not told.exists():
                time.sleep(0.002)
            recorder.close()

        racers = [child(race), child(race)]
        assert [ended(number) for number in racers] == [0, 0]
        run = Run.open(path)
        losses = run.telemetry("loss")["loss"]
        (winner,) = set(losses)
        assert (len(losses), winner in racers) == (20, True), "no record of the other"
        said = told.read_text()
        assert f"process {int(winner)} " in said or (not there and said.startswith("RunExists"))
        assert run.verify() == []
        assert run.attempts == 1 + there


def worker(recorder: Recorder) -> None:
    """What a careless worker may do with a Recorder it has inherited."""
    torch.rand(3)
    recorder.step(1.0)
    recorder.checkpoint()
    recorder.note("worker")
    recorder.close()


@pytest.mark.parametrize("forks", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_forked_workers_never_hang_and_write_nothing(tmp_path, forks):
    model, optimizer = small()
    recorder = Recorder(tmp_path / "run", model, optimizer, checkpoints=frozenset(range(0, 10_000, 3)))
    for step in range(forks):
        recorder.step(float(step))  # every third leaves the background writer at work
        number = child(lambda: worker(recorder))
        assert ended(number) == 0
    orphan = child(lambda: time.sleep(5))
    recorder.close()
    with Run.open(tmp_path / "run").held():
        pass  # a worker that outlives its parent does not hold the run
    os.kill(orphan, signal.SIGKILL)
    os.waitpid(orphan, 0)
    require_whole(Run.open(tmp_path / "run"), forks)


def require_whole(run: Run, steps: int) -> None:
    """Every record and note of the recorder's own, and none of the workers'."""
    assert run.telemetry("loss")["loss"].tolist() == [float(step) for step in range(steps)]
    assert [note.kind for note in run.notes] == ["begin", "end"]
    assert {c.step for c in run.checkpoints} == {*range(0, steps + 1, 3), steps}
    assert run.verify() == []


#: What a spawned worker imports before it does anything: the lock of the store alone, or torch and all.
LIGHT, HEAVY = "spawned_works", "ontogeny.record.recorder"


@pytest.mark.parametrize(
    ("count", "heavy"),
    [(6, 0), pytest.param(500, 12, marks=pytest.mark.slow)],
)
def test_spawned_workers_never_hang_and_write_nothing(tmp_path, count, heavy):
    """Two at a time, while the recorder goes on; each is told who holds the run."""
    model, optimizer = small()
    recorder = Recorder(tmp_path / "run", model, optimizer, checkpoints=frozenset(range(0, 10_000, 3)))
    running: list[SpawnProcess] = []
    for step in range(count):
        recorder.step(float(step))
        module = HEAVY if heavy and step % (count // heavy) == 0 else LIGHT
        running.append(SPAWN.Process(target=refused, args=(str(tmp_path / "run"), os.getpid(), module)))
        running[-1].start()
        if len(running) == 2:
            require_done(running.pop(0))
    for process in running:
        require_done(process)
    recorder.close()
    require_whole(Run.open(tmp_path / "run"), count)


def require_done(process: SpawnProcess, seconds: float = 60) -> None:
    process.join(seconds)
    code = process.exitcode
    if code is None:
        process.kill()
        process.join()
    assert code == 0, "a worker hangs" if code is None else "it was not refused"
    process.close()


@pytest.fixture
def volume(tmp_path):
    """Sixteen megabytes that can be filled."""
    mount = tmp_path / "volume"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(mount)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small volume is not permitted here")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=True)


@pytest.mark.parametrize("offsets", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_a_full_volume_costs_nothing_that_was_committed(volume, whole, offsets):
    for index in range(offsets):
        ballast, path = volume / "ballast", volume / "run"
        path.parent.mkdir(exist_ok=True)
        free = 20_000 + index * 180_000 // offsets
        room = shutil.disk_usage(volume).free
        ballast.write_bytes(b"\0" * max(0, room - free))
        with pytest.raises(OntogenyError) as caught:
            train(RECIPE, path, grade=False)
        assert isinstance(caught.value, DiskFull)
        found = {}
        if (path / "run.json").exists():
            assert Run.open(path).verify() == []
            found = {c.step: c.hash for c in Run.open(path).checkpoints}
        ballast.unlink()
        if found:
            run = resume(path)
            assert found.items() <= {c.step: c.hash for c in run.checkpoints}.items()
            assert digests(run) == digests(whole)
        shutil.rmtree(path, ignore_errors=True)

"""The k-th write, fsync or rename fails, for every k, in everything that writes a run.

After each: one error of ours, no committed byte changed, the run opens and verifies, and once the fault is
gone the same command gets to the same digests.
"""

import errno
import os
import shutil
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import xxhash

from ontogeny.branch import branch
from ontogeny.errors import DiskFull, OntogenyError, RunExists
from ontogeny.record.recipe import Recipe
from ontogeny.record.train import Stopped, resume, train
from ontogeny.replay import materialise, thin
from ontogeny.store import files
from ontogeny.store.run import Run

RECIPE = Recipe.from_document(
    {
        "model": {"width": 8, "layers": 1, "heads": 1, "mlp": "none"},
        "objective": {
            "name": "copied_segments",
            "vocabulary": 12,
            "context": 16,
            "batch": 2,
            "shortest": 3,
            "longest": 6,
        },
        "optimizer": {"name": "adamw", "lr": 0.01},
        "training": {"steps": 5},
        "recording": {"every": 3, "dense_until": 0},
    }
)


class Fault:
    """Lets the seam's calls through until the `at`-th, which fails with `code`, a write after half of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = self.calls = self.code = 0
        self.struck, self.lock = "", threading.Lock()
        for name in ("raw_write", "raw_fsync", "raw_rename"):
            monkeypatch.setattr(files, name, self._failing(getattr(files, name)))

    def _failing(self, call: Callable) -> Callable:
        def failing(*given):
            with self.lock:  # the journal's fsync and the background writer are threads of their own
                self.calls += 1
                struck = self.calls == self.at
            if struck:
                self.struck = threading.current_thread().name
                if call.__name__ == "raw_write":
                    call(given[0], given[1][: len(given[1]) // 2])
                raise OSError(self.code, os.strerror(self.code))
            return call(*given)

        failing.__name__ = call.__name__
        return failing

    def arm(self, at: int, code: int = 0) -> None:
        self.at, self.code, self.calls, self.struck = at, code, 0, ""


@pytest.fixture
def fault(monkeypatch):
    """The fault, and thirty seconds after which a command is held to hang."""

    def hung(number, frame):
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, hung)
    yield Fault(monkeypatch)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Run:
    return train(RECIPE, tmp_path_factory.mktemp("whole") / "run", grade=False)


@pytest.fixture(scope="module")
def cut(tmp_path_factory) -> Run:
    def stop(step, _):
        if step == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    path = tmp_path_factory.mktemp("cut") / "run"
    with pytest.raises(Stopped):
        train(RECIPE, path, grade=False, progress=stop)
    return Run.open(path)


def digests(run: Run) -> dict[int, int]:
    frame = run.telemetry("model_digest").drop_duplicates("step", keep="last")
    return dict(zip(frame["step"].tolist(), map(int, frame["model_digest"].tolist()), strict=True))


def committed(path: Path) -> dict[str, str]:
    """The hash of every file that is whole: all but what is on its way, the lock, and live journals."""
    return {
        str(file.relative_to(path)): xxhash.xxh3_64_hexdigest(file.read_bytes())
        for file in sorted(path.rglob("*"))
        if file.is_file()
        and file.suffix != ".journal"
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    }


def train_again(path: Path) -> Run:
    """Train; what was begun is taken up, what has not even a manifest is made anew."""
    try:
        return train(RECIPE, path, grade=False)
    except RunExists:
        run = Run.open(path)
        if not run.checkpoints:  # it failed before its first commit: there is nothing to take up
            shutil.rmtree(path)
            return train(RECIPE, path, grade=False)
        return resume(path)


def branch_again(path: Path) -> Run:
    out = path.parent / "branch"
    try:
        return branch(path, at=2, apply=[], out=out)
    except RunExists:
        try:
            return resume(out)
        except OntogenyError:  # it failed before the fork was committed
            shutil.rmtree(out)
            return branch(path, at=2, apply=[], out=out)


def thinned(path: Path) -> Run:
    thin(Run.open(path), 2)
    return Run.open(path)


def materialised(path: Path) -> Run:
    materialise(Run.open(path), 1, 2)
    return Run.open(path)


#: What is done, to which run it is done, and which files it may remove.
COMMANDS = {
    "train": (lambda path: train(RECIPE, path, grade=False), train_again, None),
    "resume": (resume, resume, "cut"),
    "thin": (thinned, thinned, "whole"),
    "materialise": (materialised, materialised, "whole"),
    "branch": (lambda path: branch(path, at=2, apply=[], out=path.parent / "branch"), branch_again, "whole"),
}


def inject(name: str, source: Run | None, folder: Path, fault: Fault, code: int, at: int) -> bool:
    """One trial; whether the fault was met."""
    command, again, _ = COMMANDS[name]
    path = folder / f"{name}-{code}-{at}" / "run"
    if source is not None:
        shutil.copytree(source.path, path, symlinks=True)
    before = committed(path) if source is not None else {}
    fault.arm(at, code)
    signal.alarm(30)
    failure = None
    try:
        command(path)
    except OntogenyError as error:
        failure = error
    assert failure is None or str(path.parent) in str(failure), "it says where"
    assert failure is None or isinstance(failure, DiskFull) == (code == errno.ENOSPC)
    assert failure is not None or not fault.struck, f"a fault in {fault.struck} was passed over in silence"
    met = bool(fault.struck)
    fault.arm(0)
    made = path.parent / "branch" if name == "branch" else path
    for left in {path, made}:
        if (left / "run.json").exists():
            assert Run.open(left).verify() == []
    after = committed(path) if path.exists() else {}
    gone = {file for file in before if after.get(file) != before[file]}
    if name == "thin":
        gone = {file for file in gone if not file.startswith("checkpoints/") or file in after}
    assert gone <= {"run.json"} if name == "train" else not gone, "a committed file has changed"
    middle = committed(made) if made.exists() else {}
    run = again(path)
    assert run.verify() == []
    assert run.outcome == "finished"
    later = committed(made)
    if failure and name not in ("thin", "train", "branch"):
        assert {file: later.get(file) for file in middle} == middle
    assert not list(made.glob("**/.*.temporary")) or name == "train"
    check(name, run)
    signal.alarm(0)
    shutil.rmtree(path.parent)
    return met


EXPECTED: dict[str, dict[int, int]] = {}


def check(name: str, run: Run) -> None:
    """The digests are those of a run that met no fault; so is what is kept."""
    assert digests(run) == {step: d for step, d in EXPECTED["whole"].items() if step >= min(digests(run))}
    steps = [checkpoint.step for checkpoint in run.checkpoints]
    if name == "thin":
        assert steps == [0, 5]
    if name == "materialise":
        assert steps == [0, 1, 2, 3, 5]
    for checkpoint in run.checkpoints:
        assert int(checkpoint.manifest.metadata["model_digest"], 16) == EXPECTED["whole"][checkpoint.step]


def calls_of(name: str, source: Run | None, folder: Path, fault: Fault) -> int:
    path = folder / f"{name}-count" / "run"
    if source is not None:
        shutil.copytree(source.path, path, symlinks=True)
    fault.arm(0)
    COMMANDS[name][0](path)
    shutil.rmtree(path.parent)
    return fault.calls


def every(stride: int, name: str, whole: Run, cut: Run, folder: Path, fault: Fault, codes) -> None:
    torch.set_num_threads(1)
    EXPECTED["whole"] = digests(whole)
    source = {"whole": whole, "cut": cut, None: None}[COMMANDS[name][2]]
    count = calls_of(name, source, folder, fault)
    assert count >= 2
    stride = 1 if count < 20 else stride
    met = 0
    points = range(1, count + 1, stride)
    for index, at in enumerate(points):
        for code in codes if stride == 1 else [codes[index % len(codes)]]:
            met += inject(name, source, folder, fault, code, at)
    assert met >= len(points) / 2, "the faults were met"


CODES = (errno.EIO, errno.ENOSPC)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_seventh_call_fails(name, whole, cut, tmp_path, fault):
    every(7, name, whole, cut, tmp_path, fault, CODES)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_every_call_fails(name, whole, cut, tmp_path, fault):
    every(1, name, whole, cut, tmp_path, fault, CODES)

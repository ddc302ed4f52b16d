"""The k-th write, fsync or rename fails, for every k, in everything that writes a run.

After each: one error of ours, no committed byte changed, the run opens and verifies, and once the fault is
gone the same command gets to the same digests and rows. A dying disk fails once, a full one once or until
somebody makes room.
"""

import errno
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
import xxhash
from torch import nn

from failing_disk import FULL, FailingDisk
from ontogeny.branch import branch
from ontogeny.detect import detect
from ontogeny.errors import DiskFull, OntogenyError
from ontogeny.measure import measure
from ontogeny.record.recorder import Recorder
from ontogeny.record.restoring import restore_state
from ontogeny.record.train import Stopped, resume, train
from ontogeny.replay import materialise, thin
from ontogeny.store.arrays import array_names
from ontogeny.store.run import Run
from ontogeny.vocabulary import Counters, TrainingState
from tiny_recipe import tiny

TABLES = {
    "model": {"width": 8, "heads": 1, "mlp": "none"},
    "objective": {"batch": 2},
    "training": {"steps": 5},
    "recording": {"every": 3, "dense_until": 0, "evaluate": 0},
}
RECIPE = tiny(**TABLES)
#: Which error, whether it stays until the command has ended, and the how-manieth calls meet it.
FAULTS = ((errno.EIO, False, 1), (errno.ENOSPC, False, 1), (errno.EDQUOT, True, 3))
#: Measured beforehand, and measured under faults; the second keeps arrays of its null.
BEFORE, UNDER = "stable_rank", "previous_token"


def digests(run: Run) -> dict[int, int]:
    frame = run.telemetry("model_digest").drop_duplicates("step", keep="last")
    return dict(zip(frame["step"].tolist(), map(int, frame["model_digest"].tolist()), strict=True))


def rows(run: Run) -> pd.DataFrame:
    frame = run.table().drop(columns="run")
    return frame.sort_values([name for name in frame if name != "value"], ignore_index=True)


def committed(path: Path) -> dict[str, str]:
    """The hash of every file that is whole: all but what is on its way, the lock, and what is appended to."""
    return {
        str(file.relative_to(path)): xxhash.xxh3_64_hexdigest(file.read_bytes())
        for file in sorted(path.rglob("*"))
        if file.is_file()
        and file.suffix not in (".journal", ".tape")
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    }


def taken_up(path: Path, anew: Callable[[Path], Run], go_on: Callable[[Path], Run]) -> Run:
    """What was begun is taken up; what failed before its first commit has nothing to take up."""
    if (path / "run.json").exists() and Run.open(path).checkpoints:
        return go_on(path)
    shutil.rmtree(path, ignore_errors=True)
    return anew(path)


def trained(path: Path) -> Run:
    return train(RECIPE, path, grade=False)


def branched(path: Path) -> Run:
    return branch(path, at=2, apply=[], out=path.parent / "branch")


def thinned(path: Path) -> Run:
    thin(Run.open(path), 2)
    return Run.open(path)


def materialised(path: Path) -> Run:
    materialise(Run.open(path), 1, 2)
    return Run.open(path)


def measured(path: Path) -> Run:
    """Rows and arrays are written, then compacted; then transitions."""
    measure(path, [UNDER])
    detect(path)
    return Run.open(path)


def advance(state: TrainingState, batch: torch.Tensor) -> torch.Tensor:
    loss = state["model"](batch).square().mean()
    state["optimizer"].zero_grad()
    loss.backward()
    state["optimizer"].step()
    return loss


def taped(path: Path) -> Run:
    """A loop of somebody else's, from wherever the run stands to step 5."""
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    counters = Counters()
    options: dict[str, Any] = {"advance": advance, "tape": True, "checkpoints": {0, 3}}
    if path.exists():
        state = TrainingState(model=model, optimizer=optimizer, counters=counters)
        restore_state(state, Run.open(path).checkpoints[-1])
        options["resume"] = True
    with Recorder(path, model, optimizer, parts={"counters": counters}, **options) as recorder:
        for step in range(counters.step, 5):
            recorder.advance(torch.full((2, 4), step / 5))
    return Run.open(path)


def train_again(path: Path) -> Run:
    return taken_up(path, trained, resume)


def tape_again(path: Path) -> Run:
    return taken_up(path, taped, taped)


def branch_again(path: Path) -> Run:
    return taken_up(path.parent / "branch", lambda _: branched(path), resume)


@dataclass(frozen=True)
class Command:
    """What is done to which run, how it is done again, and which committed files it may replace or remove."""

    do: Callable[[Path], Run]
    again: Callable[[Path], Run]
    source: str = ""
    loose: tuple[str, ...] = ()


COMMANDS = {
    "train": Command(trained, train_again),
    "tape": Command(taped, tape_again, loose=("run.json",)),
    "resume": Command(resume, resume, "cut"),
    "thin": Command(thinned, thinned, "whole", ("checkpoints",)),
    "materialise": Command(materialised, materialised, "whole"),
    "branch": Command(branched, branch_again, "whole"),
    "measure": Command(measured, measured, "known", ("rows", "arrays", "transitions.parquet")),
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> dict[str, Path]:
    """A finished run; the same with something measured; one that was stopped half-way."""

    def stop(step, _):
        if step == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    torch.set_num_threads(1)
    home = tmp_path_factory.mktemp("sources")
    train(RECIPE, home / "whole", grade=False)
    train(tiny(**{**TABLES, "training": {"steps": 1}}), home / "known", grade=False)
    measure(home / "known", [BEFORE])
    with pytest.raises(Stopped):
        train(RECIPE, home / "cut", grade=False, progress=stop)
    return {name: home / name for name in ("whole", "known", "cut")}


class Trial:
    """One command, under one fault."""

    def __init__(self, command: Command, source: Path | None, folder: Path) -> None:
        self.command, self.path = command, folder / "run"
        if source is None:
            folder.mkdir()
        else:
            shutil.copytree(source, self.path, symlinks=True)
        self.before = self.seen()

    def seen(self) -> dict[str, str]:
        return committed(self.path.parent)

    def run(self, disk: FailingDisk, at: int, code: int, stays: bool) -> bool:
        """Whether the fault was met."""
        disk.arm(at, code, stays)
        failure = None
        try:
            self.command.do(self.path)
        except OntogenyError as error:
            failure = error
        disk.disarm()
        assert failure is not None or not disk.struck, f"a fault in {disk.struck} was passed over in silence"
        if failure is not None:
            assert str(self.path.parent) in str(failure), "it says where"
            assert errno.errorcode[code] in str(failure)
            assert isinstance(failure, DiskFull) == (code in FULL)
        return bool(disk.struck)

    def require_unchanged(self, before: dict[str, str]) -> dict[str, str]:
        """Nothing that was committed is changed; what the command may drop, it drops whole."""
        for manifest in self.path.parent.glob("*/run.json"):
            run = Run.open(manifest.parent)
            assert run.verify() == []
            for folder in run.path.glob("checkpoints/[0-9]*"):
                assert (folder / "manifest.json").exists(), "half a checkpoint"
        after = self.seen()
        strict = {file: hash for file, hash in before.items() if file.split("/")[1] not in self.command.loose}
        assert strict.items() <= after.items()
        return after

    def finish(self) -> Run:
        """The same once more, now that the disk is well."""
        middle = self.require_unchanged(self.before)
        kept = {
            path.parent.name
            for path in self.path.parent.glob("*/run.json")
            if Run.open(path.parent).checkpoints  # else it is begun anew
        }
        run = self.command.again(self.path)
        self.require_unchanged({file: middle[file] for file in middle if file.split("/")[0] in kept})
        assert not list(self.path.parent.glob("**/.*.temporary"))
        assert run.outcome == "finished"
        return run


def outcome(run: Run) -> dict[str, Any]:
    """What must not depend on the faults that were met on the way."""
    checkpoints = {c.step: (c.hash, c.manifest.metadata["model_digest"]) for c in run.checkpoints}
    found = {"digests": digests(run), "checkpoints": checkpoints, "arrays": array_names(run.path)}
    tables = {"rows": rows(run), "transitions": run.transitions}
    return found | {name: table.to_csv() for name, table in tables.items()}


@pytest.fixture
def disk(monkeypatch) -> Iterator[FailingDisk]:
    def hung(number, frame):
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, hung)
    yield FailingDisk(monkeypatch)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def faults(calls: int, most: int | None) -> list[tuple[int, int, bool]]:
    """The faults of every call; or, if that is too much, of so many calls spread evenly, one each in turn."""
    if most is None or calls <= most:
        return [(at, *fault) for *fault, stride in FAULTS for at in range(1, calls + 1, stride)]
    points = [1 + index * (calls - 1) // (most - 1) for index in range(most)]
    return [(at, *FAULTS[index % len(FAULTS)][:2]) for index, at in enumerate(points)]


def every(name: str, most: int | None, sources: dict[str, Path], folder: Path, disk: FailingDisk) -> None:
    torch.set_num_threads(1)
    command = COMMANDS[name]
    source = sources.get(command.source)
    disk.arm(0)
    expected = outcome(command.do(Trial(command, source, folder / "whole").path))
    trials = faults(disk.calls, most)
    met = 0
    for at, code, stays in trials:
        signal.alarm(60)
        trial = Trial(command, source, folder / "faulty")
        met += trial.run(disk, at, code, stays)
        assert outcome(trial.finish()) == expected, (at, code)
        shutil.rmtree(folder / "faulty")
    assert met >= len(trials) * 0.9, "the faults were met"


@pytest.mark.parametrize("name", COMMANDS)
def test_some_calls_fail(name, sources, tmp_path, disk):
    every(name, 6, sources, tmp_path, disk)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_every_call_fails(name, sources, tmp_path, disk):
    every(name, None, sources, tmp_path, disk)

"""kill -9 at random points: what was acknowledged is there, what was committed verifies."""

import os
import random
import signal
import struct
import time

import pytest
import torch

from ontogeny.store.checkpoint import list_checkpoints, write_checkpoint
from ontogeny.store.compaction import compact_journal
from ontogeny.store.files import clear_temporaries
from ontogeny.store.journal import JournalWriter, read_journal

_RECORD, _CHECKPOINT, _COMPACTED = range(3)


def train(folder, acknowledge):
    """Record, checkpoint and compact without end; every finished act is acknowledged through a pipe."""
    attempt = step = 0
    model = {"w": torch.zeros(64, 16), "b": torch.zeros(3)}
    while True:
        with JournalWriter(folder / "journal" / f"{attempt:03d}.journal") as writer:
            for _ in range(15):
                writer.append(step, {"loss": step / 3, "text": f"s{step % 3}"})
                acknowledge(_RECORD, step)
                if step % 7 == 0:
                    model["w"].fill_(step)
                    write_checkpoint(
                        folder / "checkpoints" / f"{step:06d}",
                        tensors={"model": model},
                        documents={"state": {"step": step}},
                        step=step,
                        metadata={},
                    )
                    acknowledge(_CHECKPOINT, step)
                step += 1
        compact_journal(folder / "journal" / f"{attempt:03d}.journal")
        acknowledge(_COMPACTED, attempt)
        attempt += 1


def killed(folder, delay):
    """Run `train` in a child, kill it; returns what it had acknowledged by then."""
    (folder / "journal").mkdir(parents=True)
    (folder / "checkpoints").mkdir()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            train(folder, lambda kind, number: os.write(writing, struct.pack("<Bq", kind, number)))
        finally:
            os._exit(1)
    os.close(writing)
    data = os.read(reading, 9)  # the child is at work
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    while more := os.read(reading, 1 << 16):
        data += more
    os.close(reading)
    whole = len(data) // 9 * 9
    return list(struct.iter_unpack("<Bq", data[:whole]))


@pytest.mark.parametrize("trials", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_kill_nine_at_random_points(tmp_path, trials):
    rng, leftovers, compactions = random.Random(trials), 0, 0
    for trial in range(trials):
        folder = tmp_path / str(trial)
        acknowledged = killed(folder, rng.uniform(0, 0.15))
        forms = sorted({path.stem for path in (folder / "journal").glob("[0-9]*")})
        steps = []
        for form in forms:
            read = read_journal(folder / "journal" / f"{form}.journal")
            assert read.damage == ()
            steps.extend(read.steps.tolist())
            if "loss" in read.names:  # else it was killed before its first record
                assert read.column("loss")[1].tolist() == [step / 3 for step in read.steps.tolist()]
        assert steps == list(range(len(steps)))
        assert len(steps) >= sum(kind == _RECORD for kind, _ in acknowledged)
        found = list_checkpoints(folder / "checkpoints")
        assert {step for kind, step in acknowledged if kind == _CHECKPOINT} <= {item.step for item in found}
        for checkpoint in found:
            assert checkpoint.verify() == []
            assert torch.all(checkpoint.tensors("model")["w"] == checkpoint.step)
        for place in ("journal", "checkpoints"):
            leftovers += len(list((folder / place).glob(".*")))
            clear_temporaries(folder / place)
            assert not list((folder / place).glob(".*"))
        compactions += sum(kind == _COMPACTED for kind, _ in acknowledged)
    assert leftovers > 0  # some were hit in the middle of a write
    assert compactions > 0

"""The process that opens pickles: nothing runs, nothing is tried twice, limits hold."""

import os
import pickle
import time
from pathlib import Path

import pytest
import torch

from ontogeny import formats
from ontogeny.errors import Damaged, ForeignCheckpoint, Untrusted
from ontogeny.formats import Trust, sandbox

PICKLES = Trust(pickles=True)


class Attack:
    """A pickle of this makes a file wherever it is opened without restriction."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)


def test_the_attack_is_real(tmp_path):
    torch.save({"model": {"a": torch.ones(2)}, "x": Attack(tmp_path / "marker")}, tmp_path / "a.pt")
    torch.load(tmp_path / "a.pt", weights_only=False)
    assert (tmp_path / "marker").exists()


def test_without_leave_no_process_is_started(tmp_path, monkeypatch):
    torch.save({"a": torch.ones(2)}, tmp_path / "a.pt")
    monkeypatch.setattr("subprocess.run", None)
    with pytest.raises(Untrusted, match=r"Trust\(pickles=True\)"):
        formats.read(tmp_path / "a.pt")


@pytest.mark.parametrize(
    "protocol",
    ["zip", pytest.param("legacy", marks=pytest.mark.slow), pytest.param("bare", marks=pytest.mark.slow)],
)
def test_a_pickle_that_would_run_code_does_not(tmp_path, protocol):
    payload = {"model": {"a": torch.ones(2)}, "x": Attack(tmp_path / "marker")}
    path = tmp_path / "evil.pt"
    if protocol == "bare":
        path.write_bytes(pickle.dumps(Attack(tmp_path / "marker")))
    else:
        torch.save(payload, path, _use_new_zipfile_serialization=protocol == "zip")
    with pytest.raises((Untrusted, Damaged)) as raised:
        formats.read(path, trust=PICKLES)
    assert not (tmp_path / "marker").exists()
    assert "weights_only" not in (raised.value.received or "")
    assert "False" not in str(raised.value), "no advice to load it unsafely is passed on"


def test_a_whole_pickle_comes_back_as_it_was(tmp_path):
    state = {
        "module._orig_mod.half": torch.randn(3, 2).bfloat16().T,
        "module._orig_mod.turn": torch.randn(2, dtype=torch.complex128),
        "module._orig_mod.scale": torch.tensor(1.5),
        "module._orig_mod.empty": torch.empty(0, 4),
    }
    state["module._orig_mod.tied"] = state["module._orig_mod.half"]
    torch.save(
        {"state_dict": state, "epoch": 3, "lr": [0.1, 0.2], "best": torch.tensor(2.5)}, tmp_path / "a.pt"
    )
    found = formats.read(tmp_path / "a.pt", trust=PICKLES)
    assert found.aliases == {"tied": "half"}
    assert "stripped _orig_mod. from 5 names" in found.notes
    for name, tensor in found.tensors.items():
        expected = state[f"module._orig_mod.{name}"]
        assert (tensor.dtype, tensor.shape) == (expected.dtype, expected.shape)
        assert torch.equal(tensor, expected)


def test_a_process_that_dies_is_told_of(tmp_path, monkeypatch):
    torch.save({"a": torch.ones(2)}, tmp_path / "a.pt")
    monkeypatch.setattr(sandbox.sys, "executable", "/bin/false")
    with pytest.raises(Damaged, match="died"):
        formats.read(tmp_path / "a.pt", trust=PICKLES)


def test_half_an_answer_is_none(tmp_path, monkeypatch):
    torch.save({"a": torch.ones(2)}, tmp_path / "a.pt")
    half = lambda kind, home, *limits_and_paths: (home / sandbox.RESULT).write_text('{"names": [')
    monkeypatch.setattr(sandbox, "_run", half)
    with pytest.raises(Damaged, match="did not finish"):
        formats.read(tmp_path / "a.pt", trust=PICKLES)


@pytest.mark.slow
def test_limits_of_time_and_memory_hold(tmp_path):
    torch.save({"w": torch.zeros(1).expand(10**11)}, tmp_path / "vast.pt")
    with pytest.raises(Damaged, match="memory"):
        formats.read(tmp_path / "vast.pt", trust=PICKLES)
    torch.save({"w": torch.zeros(10**7)}, tmp_path / "large.pt")
    with pytest.raises(Damaged, match="memory"):
        formats.read(tmp_path / "large.pt", trust=Trust(pickles=True, memory=1 << 20))
    start = time.perf_counter()
    with pytest.raises(Damaged, match=r"more than 0\.2 s"):
        formats.read(tmp_path / "large.pt", trust=Trust(pickles=True, seconds=0.2))
    assert time.perf_counter() - start < 2


@pytest.mark.slow
def test_a_refused_file_is_opened_once(tmp_path, monkeypatch):
    started = []
    real = sandbox.subprocess.run
    monkeypatch.setattr(sandbox.subprocess, "run", lambda *a, **k: started.append(a) or real(*a, **k))
    torch.save({"model": {"a": torch.ones(2)}, "x": Attack(tmp_path / "marker")}, tmp_path / "a.pt")
    with pytest.raises(Untrusted):
        formats.read(tmp_path / "a.pt", trust=PICKLES)
    assert len(started) == 1


@pytest.mark.slow
def test_the_process_sees_no_environment_of_ours(tmp_path, monkeypatch):
    seen = {}

    def caught(command, **options):
        seen.update(options["env"])
        raise sandbox.subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(sandbox.subprocess, "run", caught)
    monkeypatch.setenv("A_SECRET", "x")
    torch.save({"a": torch.ones(2)}, tmp_path / "a.pt")
    with pytest.raises(Damaged):
        formats.read(tmp_path / "a.pt", trust=PICKLES)
    assert set(seen) == {"PYTHONPATH", "OMP_NUM_THREADS", "PATH"}


def test_a_pickle_that_is_cut_short_is_damage(tmp_path, trusted):
    torch.save({"a": torch.ones(2000)}, tmp_path / "a.pt")
    (tmp_path / "a.pt").write_bytes((tmp_path / "a.pt").read_bytes()[:-500])
    with pytest.raises(Damaged, match=r"a\.pt"):
        formats.read(tmp_path / "a.pt", trust=trusted)


def test_a_pickle_without_a_model_says_what_is_in_it(tmp_path, trusted):
    torch.save({"epoch": 3, "loss": [1.0]}, tmp_path / "a.pt")
    with pytest.raises(ForeignCheckpoint, match="epoch, loss"):
        formats.read(tmp_path / "a.pt", trust=trusted)

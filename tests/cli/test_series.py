"""Other people's checkpoints from the command line."""

import sys
from pathlib import Path

import pytest
import torch

from ontogeny.cli import main
from ontogeny.series import read_steps
from ontogeny.store.rows import read_rows
from small_checkpoints import save_model


@pytest.fixture
def ontogeny(monkeypatch, capsys, tmp_path):
    """Run a command in an empty folder; returns its status, output and complaint."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ontogeny", *words])
        status = 0
        try:
            main()
        except SystemExit as stopped:
            status = int(stopped.code or 0)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_a_pattern_and_tokens(ontogeny, tmp_path):
    for step, name in ((500, "s500"), (1000, "s1k"), (2000, "s2k"), (3000, "s3k"), (9000, "s9k")):
        save_model(tmp_path / "them" / name, step)
    status, _, complaint = ontogeny("measure", "them", "--parts", "stable_rank")
    assert status == 2
    assert "s1k gives no step" in complaint
    words = ("them", "--parts", "stable_rank", "--pattern", "s{step}{step_unit}", "--tokens-per-step", "64")
    status, out, complaint = ontogeny("measure", *words)
    assert (status, complaint) == (0, "")
    assert "5 checkpoints measured" in out
    assert "note: the steps jump from 3000 to 9000" in " ".join(out.split())
    home = tmp_path / "them" / "ontogeny"
    assert sorted(set(read_rows(home)["step"])) == [500, 1000, 2000, 3000, 9000]
    assert read_steps(home)["tokens"].tolist() == [64 * s for s in (500, 1000, 2000, 3000, 9000)]
    status, out, _ = ontogeny("detect", "them", "--parts", "stable_rank")
    assert status == 0
    assert "series looked at" in out


def test_a_pickle_needs_a_word(ontogeny, tmp_path):
    torch.save({"weight": torch.ones(2)}, tmp_path / "ckpt_5.pt")
    status, _, complaint = ontogeny("measure", "ckpt_5.pt", "--parts", "stable_rank")
    assert status == 2
    assert "--pickle" in complaint
    assert not list(Path().glob("*.ontogeny")), "nothing was begun"


def test_one_that_cannot_be_loaded_is_told_at_the_end(ontogeny, tmp_path):
    for step in (1, 2, 3):
        save_model(tmp_path / "them" / f"step{step}", step)
    (tmp_path / "them" / "step2" / "model.safetensors").write_bytes(b"torn")
    status, _, complaint = ontogeny("measure", "them", "--parts", "stable_rank")
    assert status == 2
    assert "step2" in complaint
    assert set(read_rows(tmp_path / "them" / "ontogeny")["step"]) == {1, 3}


def test_a_hub_out_of_reach(ontogeny, tmp_path, monkeypatch):
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    status, _, complaint = ontogeny("measure", "hub:owner/name")
    assert status == 2
    assert "hub:owner/name cannot be opened" in complaint
    assert "HF_HUB_OFFLINE" in complaint

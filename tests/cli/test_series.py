"""Other people's checkpoints from the command line."""

from pathlib import Path

import pytest
import torch

from ontogeny.audit import kept
from ontogeny.series import read_steps
from ontogeny.store.rows import read_rows
from small_checkpoints import save_model


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


def test_what_an_audit_finds_is_said_before_and_shown_with_the_rows(ontogeny, tmp_path):
    for step in (10, 20, 30):
        save_model(tmp_path / "them" / f"step{step}", min(step, 20))
    status, out, _ = ontogeny("measure", "them", "--parts", "stable_rank")
    said = " ".join(out.split())
    assert status == 0
    assert said.index("error: duplicate-checkpoint: steps 20, 30 agree") < said.index(
        "3 checkpoints measured"
    )
    assert "not what their names say" in said
    assert kept(tmp_path / "them" / "ontogeny").kinds() == {"duplicate-checkpoint": 1}
    for command in ("detect", "show"):
        status, out, _ = ontogeny(command, "them")
        assert status == 0
        assert "error: duplicate-checkpoint: steps 20, 30 agree" in " ".join(out.split())
    status, _, complaint = ontogeny("report", "them", "--out", "page.html")
    assert (status, complaint) == (0, "")
    page = Path("page.html").read_text()
    assert page.index("duplicate-checkpoint") < page.index('<section id="run-1-formed"')
    assert "Trained elsewhere" in page


def test_a_sound_series_is_reported_as_one(ontogeny, tmp_path):
    for step in (10, 20):
        save_model(tmp_path / "them" / f"step{step}", step)
    words = ("them", "--home", "rows")
    status, out, _ = ontogeny("show", *words)
    assert status == 0
    assert "nothing yet" in out
    status, _, complaint = ontogeny("report", *words)
    assert status == 2
    assert "ontogeny measure them" in complaint
    status, out, _ = ontogeny("measure", *words, "--parts", "stable_rank")
    assert "error" not in out
    for command in ("detect", "show", "report"):
        status, out, complaint = ontogeny(command, *words)
        assert (status, complaint) == (0, ""), command
    assert "Nothing was found" in Path("report.html").read_text()
    assert not (tmp_path / "them" / "ontogeny").exists()


def test_two_folders_are_compared_under_a_pattern(ontogeny, tmp_path):
    for name in ("here", "there"):
        for step in (1, 2):
            save_model(tmp_path / name / f"7-at-{step}", step + (name == "there"))
    status, _, complaint = ontogeny("compare", "here", "there")
    assert status == 2
    assert "can be read as several steps" in complaint
    status, out, complaint = ontogeny("compare", "here", "there", "--pattern", "7-at-{step}", "--no-passes")
    assert (status, complaint) == (0, "")
    assert "distance of all parameters" in out

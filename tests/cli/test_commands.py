"""The command line as a user meets it: a tiny run through every stage, and every way to be wrong."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from ontogeny.cli import main
from ontogeny.store.run import Run

TINY = """
title = "tiny"
[model]
width = 16
layers = 2
heads = 2
mlp = "none"
[objective]
name = "copied_segments"
vocabulary = 40
context = 40
batch = 4
shortest = 3
longest = 6
[training]
steps = 16
[recording]
every = 4
evaluate = 8
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> Path:
    """A tiny run, trained, measured and looked at."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.toml").write_text(TINY)
    here, argv = os.getcwd(), sys.argv
    os.chdir(folder)
    try:
        for words in (
            ("train", "tiny.toml", "--no-grade"),
            ("measure", "runs/tiny"),
            ("detect", "runs/tiny"),
        ):
            sys.argv = ["ontogeny", *words]
            with pytest.raises(SystemExit, match=r"^0$"):
                main()
    finally:
        os.chdir(here)
        sys.argv = argv
    return folder / "runs" / "tiny"


def test_the_stages_leave_what_they_say(measured):
    run = Run.open(measured)
    assert run.outcome == "finished"
    assert "induction" in set(run.table()["part"])
    assert run.rows("previous_token").dims == ("step", "layer", "head")
    assert len(run.transitions) > 10


def test_report_show_and_verify(ontogeny, measured):
    status, out, _ = ontogeny("report", str(measured), "--out", "page.html")
    assert status == 0
    assert "page.html" in out
    page = Path("page.html").read_text()
    assert "tiny" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    status, out, _ = ontogeny("show", str(measured))
    assert status == 0
    assert "16" in out
    assert "effective_rank" in out
    status, out, _ = ontogeny("show", str(measured.parent))
    assert "finished" in out
    status, out, _ = ontogeny("verify", str(measured.parent))
    assert status == 0
    assert "whole" in out


def test_a_figure_for_print(ontogeny, measured, tmp_path):
    for name in ("loss.pdf", "loss.png", "loss.svg", "loss.json"):
        status, said, _ = ontogeny("figure", measured, "learning_curve", "--out", name, "--set", "most=60")
        assert status == 0
        assert said.startswith(f"{name}: ")
        assert (tmp_path / name).stat().st_size > 500
    assert ontogeny("figure", measured, "transition_table", "--out", "found.csv")[0] == 0
    assert (tmp_path / "found.csv").read_text().startswith("part,place,")
    status, _, complaint = ontogeny("figure", measured, "learning_curve", "--out", "loss.gif")
    assert (status, "allowed:  .pdf, .svg, .png, .json" in complaint) == (2, True)
    status, _, complaint = ontogeny("figure", measured.parent.parent, "learning_curve", "--out", "loss.pdf")
    assert status == 2
    assert complaint.startswith("ontogeny: ")


def test_verify_names_a_flipped_bit(ontogeny, measured, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(measured, copy, symlinks=True)
    victim = copy / "checkpoints" / "000004" / "model.safetensors"
    data = bytearray(victim.read_bytes())
    data[-5] ^= 1
    victim.write_bytes(data)
    status, out, _ = ontogeny("verify", str(copy))
    assert status == 1
    assert "000004/model.safetensors" in out


def test_explain_prices_and_measures_nothing(ontogeny, measured, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(measured, copy, symlinks=True)
    shutil.rmtree(copy / "rows")
    status, out, _ = ontogeny("measure", str(copy), "--explain")
    assert status == 0
    assert "repeated_tokens" in out
    assert "6 checkpoints to do" in out
    assert Run.open(copy).table().empty


def test_lists(ontogeny):
    for words, said in (
        (("parts",), "effective_rank"),
        (("parts", "objective"), "next_token"),
        (("recipes",), "letters"),
    ):
        status, out, _ = ontogeny(*words)
        assert status == 0
        assert said in out
    status, out, _ = ontogeny("doctor")
    assert status == 0
    assert "torch" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("measure", "RUN", "--parts", "inductoin"),
            ("inductoin", "did you mean 'induction'", "effective_rank"),
        ),
        (("train", "lettres"), ("lettres", "did you mean 'letters'", "grokking")),
        (
            ("train", "induction", "--set", "optimizer.lrr=1"),
            ("optimizer.lrr", "did you mean 'optimizer.lr'"),
        ),
        (("train", "induction", "--set", "training.steps=soon"), ("training.steps", "soon")),
        (("train", "letters", "--set", "corpus.name=small.txt"), ("small.txt", "token")),
        (("train", "tiny.toml", "--out", "file/run"), ("file", "cannot write")),
        (("measure", "empty"), ("empty", "neither a run nor checkpoints")),
        (("detect", "nowhere"), ("nowhere", "no such folder")),
        (("report", "empty"), ("empty", "holds no runs")),
        (("parts", "gadget"), ("gadget", "instrument")),
        (("train", "tiny.toml", "--out", "RUN"), ("already holds a run",)),
    ],
)
def test_bad_input_gets_a_clear_error(ontogeny, measured, words, said):
    Path("tiny.toml").write_text(TINY)
    Path("small.txt").write_text("too short to learn from")
    Path("empty").mkdir()
    Path("file").write_text("")
    status, _, complaint = ontogeny(*(str(measured) if word == "RUN" else word for word in words))
    assert status == 2
    assert "Traceback" not in complaint
    for words_said in said:
        assert words_said in complaint
    assert "to do:" in complaint or "allowed:" in complaint


def test_a_checkpoint_of_another_model_is_refused_by_name(ontogeny, measured, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(measured, copy, symlinks=True)
    shutil.rmtree(copy / "rows")
    folder = copy / "checkpoints" / "000004"
    config = (folder / "config.json").read_text().replace('"layers": 2', '"layers": 3')
    (folder / "config.json").write_text(config)
    (folder / "manifest.json").unlink()
    shutil.copytree(folder, tmp_path / "foreign" / "step4", symlinks=True)
    status, _, complaint = ontogeny("measure", str(tmp_path / "foreign"))
    assert status == 2
    assert "blocks.2" in complaint
    assert "missing" in complaint

"""The commands of the README's section on checkpoints that others trained."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from ontogeny.cli import main
from ontogeny.models import DecoderConfig
from ontogeny.sources.tokenizer import byte_tokenizer
from small_checkpoints import save_model

README = Path(__file__).resolve().parents[2] / "README.md"
CONFIG = DecoderConfig(vocabulary=256, context=32, width=16, layers=1, heads=2)
TITLE = "## Checkpoints that others trained"


def commands() -> list[str]:
    section = README.read_text(encoding="utf-8").partition(TITLE)[2]
    return re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1].splitlines()


@pytest.mark.slow
def test_the_commands_on_checkpoints_of_others_run(shared_data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for step in (10, 20, 30):
        byte_tokenizer().save(save_model(tmp_path / "checkpoints" / f"step{step}", step, CONFIG))
    (tmp_path / "corpus.txt").write_text(" ".join(f"{n} is not {n + 1}." for n in range(300)))
    Path("results").symlink_to(shared_data / "pythia-evals" / "pythia-v1" / "pythia-70m")
    ran = 0
    for command in commands():
        if "hub:" in command:
            continue
        monkeypatch.setattr(sys, "argv", shlex.split(command, comments=True))
        with pytest.raises(SystemExit) as stopped:
            main()
        assert not stopped.value.code, command
        ran += 1
    assert ran == 5
    assert Path("report.html").stat().st_size > 10_000

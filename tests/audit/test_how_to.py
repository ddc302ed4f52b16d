"""The how-to lists every kind of finding, and its commands run."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from ontogeny.audit import KINDS
from ontogeny.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "audit-a-series.md"


def test_the_page_lists_every_kind():
    rows = [f"| `{name}` | {kind.severity} | {kind.meaning} |" for name, kind in KINDS.items()]
    assert "\n".join(rows) in PAGE.read_text()


def test_the_commands_run(clean, twin, saved, shared_data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved({step: clean[step] for step in (10, 20, 30, 40)}, "checkpoints")
    for name, series in (("one", clean), ("two", twin)):
        saved({step: series[step] for step in (10, 20, 30)}, f"seeds/{name}")
    Path("results").symlink_to(shared_data / "pythia-evals" / "pythia-v1" / "pythia-70m")
    commands = re.search(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)[1].splitlines()
    assert len(commands) == 4
    for command in commands:
        monkeypatch.setattr(sys, "argv", shlex.split(command, comments=True))
        main_status(command)
    assert Path("findings.json").exists()


def main_status(command):
    try:
        main()
    except SystemExit as stopped:
        if stopped.code:
            pytest.fail(f"{command}: status {stopped.code}")

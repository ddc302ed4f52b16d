"""The command line as a user meets it."""

import sys

import pytest

from ontogeny.cli import main


@pytest.fixture
def ontogeny(monkeypatch, capsys, tmp_path):
    """Run a command in an empty folder; returns its status, output and complaint."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ontogeny", *map(str, words)])
        status = 0
        try:
            main()
        except SystemExit as stopped:
            status = int(stopped.code or 0)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run

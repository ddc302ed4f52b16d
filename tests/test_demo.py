"""`make demo`, whole: both runs, every part, the report; and run again it redoes nothing."""

import re
import subprocess
import sys
import time

import pytest

from ontogeny.catalogue import parts
from ontogeny.detect import claimed
from ontogeny.measure.asked import asked_parts
from ontogeny.store.run import Run

pytestmark = pytest.mark.slow


def test_the_demo_does_what_it_says_once(tmp_path):
    command = [sys.executable, "-m", "ontogeny", "demo", "--out", str(tmp_path / "demo")]
    began = time.monotonic()
    first = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1500)
    assert first.returncode == 0, first.stderr
    took = time.monotonic() - began
    wanted = {asked.part.name for asked in asked_parts()}
    for name in ("letters", "induction"):
        run = Run.open(tmp_path / "demo" / name)
        assert run.outcome == "finished"
        assert run.grade == "E"
        assert len(run.checkpoints) >= 25
        rows = run.table()
        measured = rows.groupby("part")["step"].nunique()
        assert set(measured.index) == wanted
        assert measured.drop(list(parts("summary")), errors="ignore").min() == len(run.checkpoints)
        assert run.verify() == []
        beside = [p for p in run.path.rglob("*") if p.is_file() and "checkpoints" not in p.parts]
        assert len(beside) <= 50
    found = claimed(Run.open(tmp_path / "demo" / "induction").transitions)
    assert "induction" in set(found["part"])
    page = tmp_path / "demo" / "report.html"
    assert page.stat().st_size < 4_000_000
    assert not re.search(r"(src|href)=.?https?:", page.read_text())
    again = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("nothing was missing") == 2
    print(f"the demo took {took:.0f} s")

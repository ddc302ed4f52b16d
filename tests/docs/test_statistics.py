"""The page on statistics: what it names exists, its examples run, its table has no bound that was missed."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import ontogeny.statistics as package

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_every_call_of_the_first_table_exists():
    modules = [
        importlib.import_module(f"{package.__name__}.{m.name}")
        for m in pkgutil.iter_modules(package.__path__)
    ]
    known = {name for module in modules for name in vars(module)}
    rows = [line.split("|")[2] for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
    calls = {
        name
        for row in rows[1:]
        for code in re.findall(r"`([^`]+)`", row)
        for name in re.findall(r"^\w+", code)
    }
    assert len(calls) > 12
    assert calls - known == {"ontogeny"}, "the command"


def test_the_examples_say_what_stands_beside_them(capsys):
    space: dict = {}
    for example in EXAMPLES:
        exec(example, space)
    first, second = capsys.readouterr().out.splitlines()
    assert all(p < 0.05 for p in eval(first))
    value, low, high, asked = map(float, second.split())
    assert low <= value <= high <= low + 0.04
    assert asked == pytest.approx(1500, rel=0.2)


def test_no_bound_was_missed():
    table = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)[1]
    assert table.count(" pass ") > 25
    assert "MISS" not in table

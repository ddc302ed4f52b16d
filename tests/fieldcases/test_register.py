"""Cases of sections D and F have tests named after them; what docs/field-cases.md says of tests is there."""

import re
from pathlib import Path

TESTS = Path(__file__).parent.parent
PAGE = (TESTS.parent / "docs" / "field-cases.md").read_text(encoding="utf-8")
NAMED = {
    int(number)
    for path in TESTS.rglob("test_*.py")
    for number in re.findall(r"^def test_f(\d\d)_", path.read_text(encoding="utf-8"), re.MULTILINE)
}


def test_sections_d_and_f_are_covered():
    assert {*range(38, 53), *range(61, 72)} <= NAMED


def test_a_case_with_a_test_is_on_the_page():
    rows = re.findall(r"^\| (F[^|]*) \|", PAGE, re.MULTILINE)
    listed = {int(number) for row in rows for number in re.findall(r"F(\d\d)", row)}
    assert listed >= NAMED - {*range(38, 53), *range(61, 72)}


def test_the_files_it_names_exist():
    names = {n for n in re.findall(r"`([^`]+)`", PAGE) if n.endswith((".py", "/"))}
    assert len(names) > 15
    for name in names:
        assert (TESTS.parent / name).exists() or any(TESTS.rglob(name)), name

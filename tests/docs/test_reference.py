import re

import pytest


@pytest.fixture
def home(reference, tmp_path):
    """A folder with every page, and a picture of every measuring part."""
    (tmp_path / "images").mkdir()
    for name in reference.measuring_parts():
        (tmp_path / "images" / f"{name}.letters.svg").touch()
    for path, text in reference.pages(tmp_path).items():
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_nothing_is_wrong_with_what_was_just_written(reference, home):
    assert reference.complaints(home) == []


def test_a_part_without_a_picture_and_a_picture_without_a_part_are_named(reference, home):
    (home / "images" / "rankme.letters.svg").rename(home / "images" / "rank_you.letters.svg")
    found = "\n".join(reference.complaints(home))
    assert re.search("parts without a picture.*: rankme$", found, re.MULTILINE)
    assert re.search("pictures of no part.*: rank_you$", found, re.MULTILINE)


def test_pages_that_are_stale_or_of_nothing_are_named(reference, home):
    (home / "heads.md").write_text("# Heads", encoding="utf-8")
    (home / "tails.md").write_text("# Tails", encoding="utf-8")
    assert reference.complaints(home) == [
        "stale pages (make docs): heads.md",
        "pages of nothing (make docs): tails.md",
    ]


def test_every_measuring_part_says_everything_on_its_familys_page_and_is_in_the_index(reference, home):
    index = (home / "README.md").read_text("utf-8")
    for name, part in reference.measuring_parts().items():
        page = (home / f"{part.family}.md").read_text("utf-8")
        said = page.partition(f"## {name}\n")[2].partition("\n## ")[0]
        wanted = (
            "![",
            "**Formula:**",
            "**Known:**",
            "**Misleads:**",
            "- **kind**:",
            "- **source**:",
            "- **tag**:",
        )
        assert [one for one in wanted if one not in said] == [], name
        assert f"| [{name}]({part.family}.md#{name}) | {part.kind} |" in index


def test_formulas_do_not_become_markup(reference):
    text = "‖A‖_F² * 2 with |θ| < 1e-5 and W_V -> `a_b*`"
    assert reference.markdown(text) == r"‖A‖\_F² \* 2 with |θ| \< 1e-5 and W_V → `a_b*`"

"""Names are text, whatever is in them."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from web.conftest import Open
from web.worlds import Series, World

NAMES = (
    "<img src=x onerror=window.hacked=1>",
    "<script>window.hacked=1</script>",
    "\"'><svg/onload=window.hacked=1>",
    "javascript:window.hacked=1",
    "../../etc/passwd",
    "\u202egnp.exe",
    "${window.hacked=1}{{window.hacked=1}}",
    "🧪" * 40 + "x" * 300,
    '=HYPERLINK("x","y"),"quoted"',
)


@pytest.fixture
def world() -> World:
    world = World(checkpoints=[0])
    steps = np.arange(50)
    for name in NAMES:
        metrics = {metric: [Series(steps, np.ones(50))] for metric in NAMES}
        world.add(name, metrics, config={name: name}, interventions=[name])
    return world


def test_hostile_names_run_nothing_and_are_read_as_they_are(open_page: Open, world: World) -> None:
    page = open_page(world)
    for name in NAMES[:5]:
        expect(page.locator(".runs .name", has_text=name).first).to_be_visible()
        expect(page.locator(".panel .title", has_text=name).first).to_be_attached()
    page.locator(".runs button.name").first.click()
    expect(page.locator(".detail h2")).to_have_text(NAMES[0])
    page.get_by_label(f"What to do with {NAMES[1]}").first.click()
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('img, #app script, #app iframe').length") == 0


def test_a_name_cannot_turn_the_text_around_it(open_page: Open, world: World) -> None:
    page = open_page(world)
    expect(page.locator(".runs .name", has_text="\\u202egnp.exe")).to_have_count(1)


def test_a_hostile_view_in_the_address_runs_nothing(open_page: Open, world: World) -> None:
    view = "open=%3Cimg%20src%3Dx%20onerror%3Dwindow.hacked%3D1%3E&page=%22%3E%3Cb%3E&x=banana&from=NaN"
    page = open_page(world, view)
    expect(page.locator(".detail")).to_contain_text("names no view")
    assert page.evaluate("window.hacked") is None


def test_a_saved_table_holds_no_formula(open_page: Open, world: World, tmp_path: Path) -> None:
    page = open_page(world)
    page.locator(".panel").first.get_by_label("What to do with").click()
    with page.expect_download() as started:
        page.get_by_role("menuitem", name="Save CSV").click()
    started.value.save_as(tmp_path / "saved.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "saved.csv").read_text())))
    names = {row[1] for row in rows[1:]}
    assert "'" + NAMES[-1] in names
    assert not any(name.startswith(("=", "+", "-", "@")) for name in names)

"""The report in a browser, from a file, with the network off: what it says, and what it answers to."""

import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from ontogeny.report import PartNote, RunTables, write_report

HOSTILE = "\"><img src=x onerror=alert(1)><script>alert('1')</script> \u202eevil\u202c </style></title>"
FIGURE = "[...window.__ontogeny.figures.values()]"
PLOT = f"{FIGURE}.flatMap(one => one.panels()).find(one => one.panel.title === 'Loss').plot()"


@pytest.fixture(scope="module")
def made_up() -> ModuleType:
    path = Path(__file__).parents[1] / "report" / "tables.py"
    spec = importlib.util.spec_from_file_location("made_up_tables", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tables(made_up: ModuleType, name: str = "induction-2x4", **more: Any) -> RunTables:
    notes = {"induction_attention": PartNote("share", "Looks back.", "a positional habit looks the same.")}
    held = (made_up.telemetry(), made_up.rows(), made_up.transitions(), made_up.samples(), notes)
    made = RunTables(made_up.identity(name), *held)
    return RunTables(**{**vars(made), **more})


@pytest.fixture(scope="module")
def written(made_up: ModuleType, static: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(tmp_path_factory.mktemp("report") / "report.html", runs=[tables(made_up)])


@pytest.fixture
def read(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a file with the network off; errors, dialogs and any request but for the file fail the test."""
    faults: list[str] = []
    contexts = []

    def start(path: Path, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: faults.append(asked.url) if asked.url != path.as_uri() else None)
        page.goto(path.as_uri())
        return page

    yield start
    for context in contexts:
        context.close()
    assert faults == []


def live(page: Page) -> None:
    page.wait_for_selector("html.interactive")
    page.evaluate("document.querySelector('figure[data-figure]').scrollIntoView({behavior: 'instant'})")
    page.wait_for_function(f"() => {FIGURE}.length && {PLOT}")
    page.wait_for_timeout(100)


def middle(page: Page) -> tuple[float, float, float, float]:
    box = page.evaluate(
        f"(() => {{ const r = {PLOT}.over.getBoundingClientRect(); return [r.x, r.y, r.width, r.height] }})()"
    )
    return tuple(box)


def test_it_is_of_sensible_size_and_says_which_script_may_run(written):
    assert written.stat().st_size < 4e6
    page = written.read_text(encoding="utf-8")
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]{44}'\"", page)
    assert "unsafe-eval" not in page
    assert len(re.findall(r"<script", page)) == 2


def test_the_same_tables_give_the_same_bytes(made_up, static, tmp_path):
    small = RunTables(made_up.identity(), made_up.telemetry(last=300), transitions=made_up.transitions())
    one, other = (write_report(tmp_path / name, runs=[small]).read_bytes() for name in ("one", "other"))
    assert one == other
    assert b"<script>" in one


def test_without_a_script_everything_can_be_read(read, written):
    page = read(written, java_script_enabled=False)
    assert page.locator("figure svg").first.is_visible()
    assert page.locator("h2", has_text="What formed, and when").is_visible()
    assert page.locator(".live").count() == 0


def test_figures_come_alive_where_they_stood_and_print_as_drawings(read, written):
    page = read(written)
    live(page)
    figure = page.locator("figure[data-figure]").first
    assert figure.locator("canvas").first.is_visible()
    assert not figure.locator(".drawing svg").is_visible()
    page.emulate_media(media="print")
    assert figure.locator(".drawing svg").is_visible()
    assert not figure.locator(".live").is_visible()


def test_the_cursor_reads_every_drawing_of_the_run(read, written):
    page = read(written)
    live(page)
    left, top, wide, high = middle(page)
    page.mouse.move(left + 0.6 * wide, top + high / 2)
    said = page.locator("figure[data-figure='0'] .figure-readout")
    expect(said).to_contain_text(re.compile(r"step [\d,]+.*train [\d.]+ \([\d.]+ – [\d.]+\)"))
    others = page.locator("figure[data-figure='1'] .figure-readout b")
    expect(others.first).to_contain_text("step ")
    assert others.count() > 2


def test_a_brush_zooms_all_and_a_double_click_shows_all_again(read, written):
    page = read(written)
    live(page)
    left, top, wide, high = middle(page)
    scales = f"[{PLOT}.scales.x.min, {PLOT}.scales.x.max]"
    full = page.evaluate(scales)
    page.mouse.move(left + 0.5 * wide, top + high / 2)
    page.mouse.down()
    page.mouse.move(left + 0.75 * wide, top + high / 2, steps=4)
    page.mouse.up()
    low, up = page.evaluate(scales)
    assert full[0] < low < up < full[1]
    page.evaluate("document.querySelector('#run-1-layers figure').scrollIntoView({behavior: 'instant'})")
    page.wait_for_function(
        f"""up => {{ const plots = {FIGURE}.flatMap(one => one.panels()).filter(one => one.plot?.());
        return plots.filter(one => one.plot().scales.x.max === up).length > 3 }}""",
        arg=up,
    )
    heat = page.locator("#run-1-layers .figure-foot").first
    expect(heat.get_by_role("button", name="whole range")).to_be_visible()
    page.evaluate("document.querySelector('figure[data-figure]').scrollIntoView({behavior: 'instant'})")
    page.wait_for_timeout(200)
    left, top, wide, high = middle(page)
    page.mouse.dblclick(left + 0.5 * wide, top + high / 2)
    page.wait_for_function(
        f"full => {PLOT}.scales.x.min === full[0] && {PLOT}.scales.x.max === full[1]", arg=full
    )


def test_the_keyboard_moves_the_cursor_and_zooms(read, written):
    page = read(written)
    live(page)
    page.locator("figure[data-figure='0'] .figure-plot").focus()
    page.keyboard.press("End")
    expect(page.locator("figure[data-figure='0'] .figure-readout")).to_contain_text("step 4,000")
    before = page.evaluate(f"{PLOT}.scales.x.min")
    page.keyboard.press("+")
    assert page.evaluate(f"{PLOT}.scales.x.min") > before
    page.keyboard.press("0")
    assert page.evaluate(f"{PLOT}.scales.x.min") == before


def test_a_spike_of_one_step_is_seen(made_up, static, read, tmp_path):
    telemetry = made_up.telemetry(nan_at=None)
    telemetry.loc[telemetry["step"] == 2222, "loss"] = 30.0
    page = read(write_report(tmp_path / "spike.html", runs=[RunTables({"name": "spike"}, telemetry)]))
    live(page)
    inked = f"""(() => {{
      const u = {PLOT}, ratio = devicePixelRatio;
      const x = Math.round(u.valToPos(2222, "x", true)), y = Math.round(u.valToPos(15, "y", true));
      const {{ data }} = u.ctx.getImageData(x - 4, y, 9, 1);
      const blue = at => data[4 * at + 3] && data[4 * at + 2] - data[4 * at];
      return Math.max(...Array.from({{ length: 9 }}, (_, at) => blue(at)));
    }})()"""
    assert page.evaluate(inked) > 60


def test_the_numbers_are_there_as_a_table(read, written):
    page = read(written)
    live(page)
    page.locator("figure[data-figure='0'] summary", has_text="The numbers").click()
    rows = page.locator("figure[data-figure='0'] .figure-behind tbody tr")
    expect(rows.nth(100)).to_be_attached()
    assert rows.count() > 100
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").first.click()
    lines = Path(saved.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "line,step,nats a token,low,high"
    assert lines[1].startswith("train,")


def test_a_heat_map_has_a_row_a_step_in_its_table_and_only_the_one_in_focus_is_read_out(read, written):
    page = read(written)
    live(page)
    figure = page.locator("#run-1-layers figure")
    figure.scroll_into_view_if_needed()
    plot = figure.locator(".figure-plot").first
    plot.focus()
    page.keyboard.press("End")
    said = figure.locator(".figure-readout")
    expect(said.first).to_contain_text("step 4,000 · layer 2")
    expect(said.nth(1)).to_contain_text("step 4,000")
    assert said.evaluate_all("all => all.map(one => one.getAttribute('aria-live'))")[:2] == ["polite", "off"]
    figure.locator("summary", has_text="The numbers").click()
    heads = figure.locator(".figure-behind table").first.locator("th")
    expect(heads.first).to_be_visible()
    assert heads.all_inner_texts()[:4] == ["step", "0", "1", "2"]


def test_every_head_at_every_checkpoint(read, written):
    page = read(written)
    live(page)
    heads = page.locator(".heads")
    heads.scroll_into_view_if_needed()
    page.wait_for_selector(".heads canvas")
    step, title = heads.locator(".inside-step"), heads.locator(".inside-detail .figure-title")
    expect(step).to_have_text("step 4,000")
    expect(title).to_have_text("layer 0 head 1")
    heads.locator("input[type=range]").focus()
    page.keyboard.press("Home")
    expect(step).to_have_text("step 0")
    page.keyboard.press("]")
    expect(step).to_have_text("step 1")
    page.keyboard.press("[")
    expect(step).to_have_text("step 0")
    grid = heads.locator(".inside-grid .figure-plot")
    grid.focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(heads.locator(".inside-grid .figure-readout")).to_contain_text("head 2 · layer 0")
    expect(title).not_to_have_text("layer 0 head 1")
    heads.locator("select").first.select_option("first_token_attention")
    expect(heads.locator(".inside-grid .figure-title")).to_have_text("first token attention")


def test_a_row_of_the_table_marks_its_step_everywhere(read, written):
    page = read(written)
    live(page)
    row = page.locator("#run-1-formed .figure-row").first
    row.click()
    expect(row).to_have_class(re.compile("marked"))
    step = page.evaluate("window.__ontogeny.links.get('run-1').of('step').place")
    assert 300 < step < 700
    page.locator("#run-1-formed th button", has_text="step").click()
    steps = page.locator("#run-1-formed tbody tr").evaluate_all(
        "rows => rows.map(row => Number(row.querySelectorAll('td.numeric')[0].textContent.replace(',', '')))"
    )
    assert steps == sorted(steps, reverse=True)


def test_hostile_names_run_nothing_and_are_shown(made_up, static, read, tmp_path):
    rows = made_up.rows()
    rows = rows[rows["part"].isin(["induction_attention"])].assign(part=HOSTILE)
    transitions = made_up.transitions().assign(part=HOSTILE, reason=HOSTILE)
    telemetry = made_up.telemetry(last=100)
    run = tables(
        made_up, HOSTILE, telemetry=telemetry, rows=rows, transitions=transitions, samples=[(1, HOSTILE)]
    )
    page = read(write_report(tmp_path / "hostile.html", runs=[run]))
    page.wait_for_selector("html.interactive")
    page.locator(".heads").scroll_into_view_if_needed()
    page.wait_for_selector(".heads canvas")
    page.wait_for_timeout(300)
    assert page.locator("img, main script").count() == 0
    assert page.locator(".heads .figure-title", has_text="onerror=alert(1)").first.is_visible()


def test_dark_and_narrow(read, written):
    page = read(written, color_scheme="dark")
    page.set_viewport_size({"width": 800, "height": 900})
    live(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 800
    assert page.evaluate(f"{PLOT}.root.getBoundingClientRect().width") < 760
    ink = page.evaluate("getComputedStyle(document.querySelector('.figure-title')).color")
    assert ink == "rgb(231, 234, 238)"

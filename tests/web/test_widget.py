"""The notebook's widget in a browser, as anywidget would run it."""

import json
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from ontogeny.views.figure import Column, Figure, Heat, Line, Panel, Rail, Rule, Table, Text

HOST = "http://127.0.0.1:9/"
PAGE = """<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="widget.css">
<body ATTRIBUTES><div id="cell"></div><script type="module">
import widget from "./widget.js";
const heard = [];
window.model = { figure: FIGURE, get: key => model[key] };
model.on = (_, done) => heard.push(done);
model.off = () => heard.pop();
window.change = figure => { model.figure = figure; heard.forEach(done => done()); };
window.leave = widget.render({ model, el: document.getElementById("cell") });
</script>"""
CURVE = Figure(
    "A curve",
    (
        Panel(
            "Loss",
            (
                Line("train", (0.0, 10.0, 100.0), (3.0, 2.0, 1.0), (2.5, 1.5, 0.5), (3.5, 2.5, 1.5)),
                Rule(10.0, 5.0, 20.0, "formed"),
                Rail("nonfinite", (50.0,), (2,), "non-finite"),
            ),
            y="nats",
        ),
    ),
    note="three points",
)
OTHER = Figure("Another", (Panel("Nothing", (Text("<b>why</b>"),)),))


def opened(
    browser: Browser,
    static: Path,
    figure: Figure,
    attributes: str = "",
    scheme: Literal["light", "dark"] = "light",
    faults: list[str] | None = None,
) -> Page:
    """A page with one cell, whose figure is drawn; what goes wrong there is added to `faults`."""
    page = browser.new_page(color_scheme=scheme)
    page.on("pageerror", lambda error: faults.append(str(error)) if faults is not None else None)
    body = PAGE.replace("FIGURE", json.dumps(figure.plain())).replace("ATTRIBUTES", attributes)
    page.route(HOST, lambda route: route.fulfill(body=body, content_type="text/html"))
    page.route(HOST + "widget.js", lambda route: route.fulfill(path=static / "widget.js"))
    page.route(HOST + "widget.css", lambda route: route.fulfill(path=static / "widget.css"))
    page.goto(HOST)
    expect(page.locator(".figure-name")).to_have_text(figure.title)
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_draws_follows_its_model_and_leaves_nothing(
    browser: Browser, static: Path, scheme: Literal["light", "dark"]
):
    faults: list[str] = []
    page = opened(browser, static, CURVE, scheme=scheme, faults=faults)
    expect(page.locator("canvas").first).to_be_visible()
    expect(page.locator(".figure-readout")).to_have_text("2 non-finite")
    page.locator(".figure-plot").focus()
    page.keyboard.press("Home")
    expect(page.locator(".figure-readout")).to_contain_text("train 3 (2.5 – 3.5)")
    page.evaluate("figure => window.change(figure)", OTHER.plain())
    expect(page.locator(".figure-text")).to_have_text("<b>why</b>")
    page.evaluate("window.leave()")
    assert page.locator("#cell").inner_html() == ""
    page.close()
    assert faults == []


#: Renders once more, as JupyterLab does: into an element that is put on the page afterwards.
AGAIN = """async () => {
  const { default: widget } = await import("./widget.js");
  leave();
  const cell = document.createElement("div");
  window.leave = widget.render({ model, el: cell });
  document.getElementById("cell").append(cell);
}"""
#: As JupyterLab's shortcuts: heard on the document on the way down, but not inside of what suppresses them.
SHORTCUTS = """() => {
  window.taken = [];
  const take = event => {
    if (event.target.closest("[data-lm-suppress-shortcuts]")) return;
    if (event.key !== "Shift") taken.push((event.shiftKey ? "Shift+" : "") + event.key);
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener("keydown", take, true);
}"""
COLOURS = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] === 255) seen.add([data[i], data[i + 1], data[i + 2]].join(" "));
  return [...seen];
}"""
HAIRLINES = {"light": "232 234 237", "dark": "42 47 54"}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_drawn_before_it_is_on_the_page_it_has_the_notebooks_colours(
    browser: Browser, static: Path, theme: str
):
    page = opened(browser, static, CURVE, f'data-jp-theme-light="{str(theme == "light").lower()}"')
    page.evaluate(AGAIN)
    expect(page.locator("canvas").first).to_be_visible()
    page.wait_for_function(f"() => ({COLOURS})(document.querySelector('canvas')).length > 3")
    seen = page.locator("canvas").first.evaluate(COLOURS)
    page.close()
    assert [name for name, colour in HAIRLINES.items() if colour in seen] == [theme]


def test_it_follows_the_page_from_inside_a_shadow_root(browser: Browser, static: Path):
    page = opened(browser, static, CURVE, 'data-theme="dark"')
    page.evaluate(AGAIN.replace("append(cell)", 'attachShadow({ mode: "open" }).append(cell)'))
    place, canvas = page.locator(".ontogeny-figure"), page.locator("canvas").first
    expect(place).to_have_attribute("data-dark", "")
    page.wait_for_timeout(300)
    assert HAIRLINES["dark"] in canvas.evaluate(COLOURS)
    page.evaluate("document.body.dataset.theme = 'light'")
    expect(place).not_to_have_attribute("data-dark", "")
    page.wait_for_timeout(300)
    assert HAIRLINES["light"] in canvas.evaluate(COLOURS)
    page.close()


def test_its_keys_are_not_the_notebooks(browser: Browser, static: Path):
    grid = Panel("Map", (Heat("", (0.0, 1.0), ("0", "1"), ((0.0, 1.0), (1.0, 0.0)), 0.0, 1.0),), x="step")
    page = opened(browser, static, Figure("Both", (*CURVE.panels, grid)))
    page.evaluate(SHORTCUTS)
    lines, cells = page.locator(".figure-plot").all()
    lines.focus()
    for key in ("Home", "ArrowRight", "+", "0", "0", "-", "Escape", "ArrowDown", "d", "Shift+Enter"):
        page.keyboard.press(key)
    cells.focus()
    for key in ("ArrowUp", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("details")).to_have_attribute("open", "")
    page.keyboard.press("b")
    taken = page.evaluate("taken")
    page.evaluate("leave()")
    page.close()
    assert taken == ["ArrowDown", "d", "Shift+Enter", "Enter", "b"]


def test_a_long_table_scrolls_under_its_titles(browser: Browser, static: Path):
    table = Table((Column("part", "name"),), tuple((f"part {number}",) for number in range(200)))
    page = opened(browser, static, Figure("Long", (Panel("", (table,)),)))
    frame = page.locator(".figure-table")
    frame.evaluate("frame => frame.scrollTo(0, 1000)")
    around, titles = frame.bounding_box(), page.locator("th").bounding_box()
    page.close()
    assert around
    assert titles
    assert around["height"] <= 480
    assert titles["y"] == around["y"]

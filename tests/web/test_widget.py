"""The notebook's widget in a browser, as anywidget would run it."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from ontogeny.views.figure import Figure, Line, Panel, Rail, Rule, Text

HOST = "http://127.0.0.1:9/"
PAGE = """<!doctype html><meta charset="utf-8"><div id="cell"></div><script type="module">
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_draws_follows_its_model_and_leaves_nothing(browser: Browser, static: Path, scheme: str):
    page = browser.new_page(color_scheme=scheme)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.route(HOST, lambda route: route.fulfill(
        body=PAGE.replace("FIGURE", json.dumps(CURVE.plain())), content_type="text/html"
    ))  # fmt: skip
    page.route(HOST + "widget.js", lambda route: route.fulfill(path=static / "widget.js"))
    page.goto(HOST)
    expect(page.locator(".figure-name")).to_have_text("A curve")
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

"""Mouse, keyboard and address: what is seen can be steered, and a link opens the same view."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, Route, expect

from ontogeny.report.theme import DARK, LIGHT
from web.conftest import Open
from web.probing import chart, drag, place, settled
from web.worlds import World, example


@pytest.fixture(scope="module")
def world() -> World:
    return example(runs=4, metrics=6, steps=4000)


def said(page: Page) -> dict[str, str]:
    """What the address says."""
    return {key: values[0] for key, values in parse_qs(urlsplit(page.url).fragment).items()}


def test_keys_change_the_view_and_the_address(open_page: Open, world: World) -> None:
    page = open_page(world)
    page.keyboard.press("l")
    page.keyboard.press("s")
    page.keyboard.press("s")
    page.keyboard.press("x")
    page.keyboard.press("k")
    settled(page, "loss/train", "chart.scales.x.max > 4000 * 1000")
    assert said(page) == {"y": "log", "smooth": "0.02", "x": "tokens", "xs": "log"}
    assert page.get_by_role("button", name="tokens").get_attribute("aria-pressed") == "true"
    page.keyboard.press("d")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.keyboard.press("/")
    page.keyboard.type("eval")
    expect(page.locator(".panel")).to_have_count(2)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Keys")).not_to_be_visible()


def test_brackets_walk_through_the_checkpoints(open_page: Open, world: World) -> None:
    page = open_page(world)
    page.wait_for_selector("[aria-label='Later checkpoint']")
    page.keyboard.press("]")
    assert said(page)["step"] == "0"
    for _ in range(3):
        page.keyboard.press("]")
    assert said(page)["step"] == "4"
    page.keyboard.press("[")
    assert said(page)["step"] == "2"


def test_a_click_on_a_checkpoints_tick_chooses_it(open_page: Open, world: World) -> None:
    page = open_page(world)
    page.wait_for_selector("[aria-label='Later checkpoint']")
    low = chart(page, "loss/train")["scales"]["y"]["min"]
    left, top = place(page, "loss/train", 2048, low)
    page.mouse.click(left, top - 3)
    page.wait_for_function("() => location.hash.includes('step=2048')")


def test_over_time_each_run_has_its_checkpoints_where_it_took_them(open_page: Open, world: World) -> None:
    page = open_page(world, "x=time&grouped=0")
    slow, fast = world.runs[1]["id"], world.runs[2]["id"]

    def answer(route: Route) -> None:
        told = route.fetch().json()
        for point in told["checkpoints"]:
            point["seconds"] = point["step"] * 0.07 if told["id"] == slow else None
        route.fulfill(json=told)

    page.route(re.compile(f"/api/runs/({slow}|{fast})$"), answer)
    page.reload()
    page.wait_for_selector("[aria-label='Later checkpoint']")
    low = chart(page, "loss/train")["scales"]["y"]["min"]
    for step, second in ((2048, 2048 * 0.05), (1024, 1024 * 0.07)):
        left, top = place(page, "loss/train", second, low)
        page.mouse.click(left, top - 3)
        page.wait_for_function(f"() => location.hash.includes('step={step}')")
    left, top = place(page, "loss/train", 1500 * 0.05, low)
    page.mouse.click(left, top - 3)
    assert said(page)["step"] == "1024"


def test_over_time_a_transition_is_drawn_at_its_second(open_page: Open, world: World) -> None:
    page = open_page(world, "x=time")
    page.wait_for_selector("[aria-label='Later checkpoint']")

    def ink(second: float) -> int:
        """The least opacity from the top of the plot down, at the firmest of three columns there."""
        return page.evaluate(
            """second => {
            const chart = window.__ontogeny.charts.find(one => one.title === 'loss/eval.0');
            const [x, y] = chart.at(second, chart.scales.y.max).map(Math.round);
            const { data } = chart.canvas.getContext('2d').getImageData(x - 1, y + 2, 3, 60);
            const least = at => Math.min(...Array.from({ length: 60 }, (_, row) => data[12 * row + at]));
            return Math.max(...[3, 7, 11].map(least)) }""",
            second,
        )

    settled(page, "loss/eval.0", "chart.series.length")
    page.wait_for_timeout(300)
    line, band, outside = ink(800 * 0.05), ink(700 * 0.05), ink(1100 * 0.05)
    assert line > 100 > band > outside == 0


def test_a_brush_zooms_every_panel_and_a_double_click_resets(open_page: Open, world: World) -> None:
    page = open_page(world)
    drag(page, "loss/train", 1000, 2000)
    for name in ("loss/train", "loss/eval.0"):
        settled(page, name, "chart.scales.x.min > 950 && chart.scales.x.max < 2050")
    assert 950 < float(said(page)["from"]) < 1050
    left, top = place(page, "loss/train", 1500)
    page.mouse.dblclick(left, top)
    settled(page, "loss/eval.0", "chart.scales.x.min === 0 && chart.scales.x.max === 4000")
    assert "from" not in said(page)


def test_one_crosshair_for_all_panels_and_the_nearest_run_lights(open_page: Open, world: World) -> None:
    page = open_page(world, "grouped=0")
    seen = chart(page, "loss/train")["series"]
    run = seen[-1]
    at = len(run["x"]) // 10
    page.mouse.move(*place(page, "loss/train", run["x"][at] + 300, run["line"][at]))
    page.mouse.move(*place(page, "loss/train", run["x"][at], run["line"][at]))
    wanted = chart(page, "loss/train")["cursor"]["left"]
    settled(page, "loss/eval.0", f"Math.abs(chart.cursor.left - {wanted}) < 12")
    expect(page.locator(".runs li.lit")).to_have_count(1)
    assert page.locator("[data-metric='loss/train'] .foot").inner_text().startswith("step ")


def test_the_table_draws_hides_and_pins(open_page: Open, world: World) -> None:
    page = open_page(world, "grouped=0")
    settled(page, "loss/eval.0", "chart.series.length === 4")
    page.get_by_label("Draw letters-warm-s0").click()
    settled(page, "loss/eval.0", "chart.series.length === 3")
    assert page.get_by_label("Draw letters-warm-s0").get_attribute("aria-pressed") == "false"
    page.get_by_label("Draw letters-warm-s0").click()
    settled(page, "loss/eval.0", "chart.series.length === 4")
    page.get_by_label("What to do with letters-cold-s1").click()
    page.get_by_role("menuitem", name="Draw only this").click()
    settled(page, "loss/eval.0", "chart.series.length === 1")
    assert said(page)["runs"] == world.runs[3]["id"]


def test_a_link_opens_the_same_view(open_page: Open, world: World) -> None:
    runs = ",".join(run["id"] for run in world.runs[:2])
    view = f"m=loss&open=metric%3Aloss%2Ftrain&y=log&smooth=0.05&runs={runs}&from=500&to=3000&theme=dark"
    page = open_page(world, view)
    settled(page, "loss/train", "chart.scales.x.min === 500 && chart.scales.x.max === 3000")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    expect(page.locator(".detail h2")).to_have_text("loss/train")
    expect(page.locator("#find-metrics")).to_have_value("loss")
    settled(page, "loss/eval.0", "new Set(chart.series.map(one => one.run)).size === 2")
    page.keyboard.press("Escape")
    expect(page.locator(".detail")).to_have_count(0)
    page.go_back()
    expect(page.locator(".detail h2")).to_have_text("loss/train")


def test_a_colour_stays_with_its_run(open_page: Open, world: World) -> None:
    page = open_page(world, "grouped=0")
    before = {one["run"]: one["colour"] for one in chart(page, "loss/train")["series"]}
    page.get_by_label("Draw letters-warm-s0").click()
    settled(page, "loss/eval.0", "chart.series.length === 3")
    after = {one["run"]: one["colour"] for one in chart(page, "loss/eval.0")["series"]}
    assert after.items() <= before.items()


@pytest.mark.parametrize(("ending", "title"), [("csv", "Save CSV"), ("svg", "Save SVG"), ("png", "Save PNG")])
def test_a_panel_is_saved(open_page: Open, world: World, tmp_path: Path, ending: str, title: str) -> None:
    page = open_page(world)
    page.get_by_label("What to do with loss/train").click()
    with page.expect_download() as started:
        page.get_by_role("menuitem", name=title).click()
    assert started.value.suggested_filename == f"loss-train.{ending}"
    path = tmp_path / "saved"
    started.value.save_as(path)
    if ending == "csv":
        head, first, *_ = path.read_text().splitlines()
        assert head.startswith("run,name,attempt")
        assert first.split(",")[0] in {run["id"] for run in world.runs}
    elif ending == "svg":
        root = ElementTree.parse(path).getroot()
        assert len(root.findall(".//{*}path")) >= 4
    else:
        assert path.read_bytes().startswith(b"\x89PNG")


def test_panels_out_of_sight_are_not_mounted(open_page: Open) -> None:
    page = open_page(example(runs=1, metrics=60, steps=200))
    assert page.locator(".panel").count() == 60
    mounted = page.locator(".panel canvas").count()
    assert 3 <= mounted <= 30
    page.locator(".panel").last.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelectorAll('.panel')[59].querySelector('canvas')")
    page.wait_for_function("() => !document.querySelectorAll('.panel')[0].querySelector('canvas')")


def test_a_narrow_window_keeps_everything_in_reach(open_page: Open, world: World) -> None:
    page = open_page(world)
    page.set_viewport_size({"width": 800, "height": 600})
    page.get_by_role("button", name="loss/train", exact=True).click()
    expect(page.locator(".detail canvas")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 800


def test_a_chart_is_worked_by_keys_alone(open_page: Open, world: World) -> None:
    page = open_page(world)
    page.get_by_role("button", name="loss/train", exact=True).focus()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowRight")
    foot = page.locator("[data-metric='loss/train'] .foot")
    expect(foot).to_have_text(re.compile(r"^step 2,4\d\d"))
    page.keyboard.press("+")
    settled(page, "loss/train", "chart.scales.x.min > 1000 && chart.scales.x.max < 3500")
    page.keyboard.press("-")
    settled(page, "loss/train", "chart.scales.x.max - chart.scales.x.min > 3900")
    page.keyboard.press("0")
    settled(page, "loss/train", "chart.scales.x.min === 0 && chart.scales.x.max === 4000")
    page.keyboard.press("Enter")
    expect(page.locator(".detail h2")).to_have_text("loss/train")


def test_lines_take_the_colours_of_the_theme(open_page: Open, world: World) -> None:
    page = open_page(world, "grouped=0&theme=light")
    hues = lambda: {one["colour"] for one in chart(page, "loss/train")["series"]}
    assert hues() <= set(LIGHT.hues)
    page.keyboard.press("d")
    settled(page, "loss/train", f"chart.series.length && {list(DARK.hues)}.includes(chart.series[0].colour)")
    assert hues() <= set(DARK.hues)
    page.set_viewport_size({"width": 1000, "height": 800})
    page.keyboard.press("l")
    settled(
        page,
        "loss/train",
        "chart.canvas.parentElement.clientWidth <= chart.over.closest('.plot').clientWidth",
    )

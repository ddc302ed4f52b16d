"""What is asked before it is needed: of the first panels, and of a brush that is not let go yet."""

from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page

from web.conftest import Open
from web.probing import chart, inked, place, settled
from web.worlds import Series, World, example

STEPS = 100_000


def questions(page: Page, metric: str) -> list[dict[str, list[str]]]:
    """What was asked of a metric so far."""
    names = page.evaluate("performance.getEntriesByType('resource').map(one => one.name)")
    asked = [parse_qs(urlsplit(name).query) for name in names if urlsplit(name).path.endswith("/series")]
    return [query for query in asked if metric in query["metric"]]


@pytest.fixture
def noisy() -> World:
    world, rng = World(), np.random.default_rng(0)
    for name in ("one", "two"):
        values = 1 + 0.02 * rng.normal(size=STEPS)
        world.add(name, {"loss": [Series(np.arange(STEPS), values)]})
    return world


@pytest.mark.parametrize("view", ["", "open=metric%3Aloss%2Ftrain", "x=tokens&smooth=0.1", "page=layers"])
@pytest.mark.parametrize("width", [800, 1280, 1920])
def test_the_early_question_is_the_one_that_the_panels_have(open_page: Open, width: int, view: str) -> None:
    """Asked once: a guess of another width, range or axis would be asked again."""
    view = view if "layers" not in view else view + "&open=metric%3Aloss%2Ftrain"
    page = open_page(example(runs=3, metrics=8), view, viewport={"width": width, "height": 800})
    settled(page, "loss/train", "chart.series.length >= 3")
    page.wait_for_timeout(300)
    asked = questions(page, "loss/train")
    beside = "open=" in view and "layers" not in view
    assert len(asked) == (2 if beside else 1), asked


def test_a_brush_has_its_buckets_when_it_is_let_go(open_page: Open, noisy: World) -> None:
    page = open_page(noisy)
    left, top = place(page, "loss", 30_000)
    right, _ = place(page, "loss", 40_000)
    page.mouse.move(left, top)
    page.mouse.down()
    with page.expect_response(lambda answer: "from=" in answer.url):
        page.mouse.move(right, top, steps=12)
    for pause in (200, 300):  # as a hand that stops where it wants to
        page.wait_for_timeout(pause)
        page.mouse.move(right + 1, top)
    # No later question is answered: what is drawn now was there before.
    page.route("**/api/series*", lambda route: None)
    page.mouse.up()
    settled(page, "loss", "chart.scales.x.max < 45000")
    settled(page, "loss", "chart.series[0].x[1] - chart.series[0].x[0] <= 64")
    early = chart(page, "loss")["series"]
    shown = page.locator(".panel .foot").inner_text()
    start, end = (chart(page, "loss")["scales"]["x"][name] for name in ("min", "max"))
    exact = open_page(noisy, f"from={start}&to={end}")
    settled(exact, "loss", "chart.series.length === 2")
    for mine, theirs in zip(early, chart(exact, "loss")["series"], strict=True):
        # The ends of the brush are in the first and the last bucket, which hold what lies outside, too.
        assert mine["x"][1:-1] == theirs["x"][1:-1]
        assert mine["low"][1:-1] == theirs["low"][1:-1]
        assert mine["line"][1:-1] == theirs["line"][1:-1]
    said, told = (
        int(words.split()[0].replace(",", "")) for words in (shown, exact.locator(".foot").inner_text())
    )
    assert abs(said - told) <= 4 * 64


def test_a_band_is_a_fifth_of_the_colour_from_low_to_high(open_page: Open) -> None:
    values = np.full(STEPS, 1.0)
    values[1::2] = 2.0  # the last of each bucket: the line lies on top of the band
    values[0::2] = np.linspace(0.0, 1.0, STEPS // 2)
    world = World()
    world.add("one", {"loss": [Series(np.arange(STEPS), values)]})
    page = open_page(world)
    for step in (23_000, 47_000, 77_000):  # beside the lines of the grid
        low = values[step - step % 2]
        assert 0.1 < inked(page, "loss", step, (low + 2) / 2, reach=0) < 0.3, step
        assert inked(page, "loss", step, low - 0.1, reach=0) < 0.02, step
    assert inked(page, "loss", 47_000, 2.0) > 0.6

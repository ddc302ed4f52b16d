"""What is drawn is what was recorded: spikes, values that are not finite, zeros on a log axis."""

import numpy as np
import pytest
from playwright.sync_api import expect

from web.conftest import Open
from web.probing import chart, drag, inked, settled
from web.worlds import Series, World

STEPS = 100_000
SPIKE = 61_803


def one(values: np.ndarray) -> World:
    """A world of one run with the metric `loss`."""
    world = World(checkpoints=[0, 1000, len(values) - 1])
    world.add("run", {"loss": [Series(np.arange(len(values)), values)]})
    return world


@pytest.fixture
def noisy() -> np.ndarray:
    return 1 + 0.02 * np.random.default_rng(0).normal(size=STEPS)


def test_a_spike_of_one_step_is_seen_at_every_zoom(open_page: Open, noisy: np.ndarray) -> None:
    noisy[SPIKE] = 5.0
    page = open_page(one(noisy))
    for width in (STEPS, 20_000, 3_000, 400):
        start = max(0, SPIKE - width * 0.4)
        if width < STEPS:
            drag(page, "loss", start, start + width)
            settled(page, "loss", f"chart.scales.x.max < {start + width * 1.1}")
            settled(page, "loss", f"chart.series[0].x.some(x => Math.abs(x - {SPIKE}) <= {width / 100})")
        seen = chart(page, "loss")["series"][0]
        peak = int(np.argmax(seen["high"]))
        assert seen["high"][peak] == 5.0
        assert inked(page, "loss", seen["x"][peak], 4.0) >= 0.6, width
        assert inked(page, "loss", seen["x"][peak] + width * 0.04, 4.0) < 0.2, width


def test_buckets_become_finer_with_the_zoom(open_page: Open, noisy: np.ndarray) -> None:
    page = open_page(one(noisy))
    coarse = chart(page, "loss")["series"][0]["x"]
    drag(page, "loss", 30_000, 31_000)
    settled(page, "loss", "chart.series[0].x.length && chart.series[0].x[1] - chart.series[0].x[0] <= 8")
    fine = chart(page, "loss")["series"][0]["x"]
    assert coarse[1] - coarse[0] >= 128
    assert 29_800 <= fine[0] <= 30_200


def test_values_that_are_not_finite_are_marked_above_the_plot(open_page: Open, noisy: np.ndarray) -> None:
    noisy[70_000:70_500] = np.nan
    noisy[20_000] = np.inf
    page = open_page(one(noisy))
    for step in (70_250, 20_000):
        assert inked(page, "loss", step, 1.0, reach=3, above=5) > 0.6
    assert inked(page, "loss", 45_000, 1.0, reach=3, above=5) < 0.1
    assert "501 non-finite" in page.locator(".panel .foot").inner_text()


def test_a_gap_of_nan_is_not_bridged(open_page: Open) -> None:
    values = np.full(400, 2.0)
    values[150:250] = np.nan
    page = open_page(one(values))
    assert inked(page, "loss", 100, 2.0) > 0.6
    assert inked(page, "loss", 200, 2.0) < 0.2


def test_what_a_log_axis_cannot_show_is_counted_and_marked(open_page: Open) -> None:
    values = np.linspace(1, 10, 400)
    values[200] = 0.0
    page = open_page(one(values), "y=log")
    settled(page, "loss", "chart.scales.y.min > 0")
    assert "1 bucket reach" in page.locator(".panel .foot").inner_text()
    floor = chart(page, "loss")["scales"]["y"]["min"]
    assert inked(page, "loss", 200, floor * 1.02, reach=3) > 0.6
    assert inked(page, "loss", 300, floor * 1.02, reach=3) < 0.2


def test_arcsinh_shows_both_signs(open_page: Open) -> None:
    values = np.concatenate([-np.geomspace(1000, 0.01, 200), np.geomspace(0.01, 1000, 200)])
    page = open_page(one(values), "y=arcsinh")
    settled(page, "loss", "chart.scales.y.min < -900 && chart.scales.y.max > 900")
    for step in (20, 100, 300, 380):
        assert inked(page, "loss", step, values[step]) > 0.6


def test_replaced_steps_stay_visible_and_dashed(open_page: Open) -> None:
    steps = np.arange(2000)
    world = World()
    old = Series(steps[800:1200], np.full(400, 3.0), superseded=True)
    world.add("resumed", {"loss": [Series(steps, np.full(2000, 1.0)), old]})
    page = open_page(world)
    roles = {series["role"]: series for series in chart(page, "loss")["series"]}
    assert set(roles) == {"run", "superseded"}
    along = [inked(page, "loss", step, 3.0, reach=1) for step in range(820, 1180, 4)]
    assert max(along) > 0.6
    assert min(along) < 0.2
    assert "2 segments" in page.locator(".panel .foot").inner_text()


def test_seeds_are_a_mean_with_n_and_a_named_band(open_page: Open) -> None:
    steps = np.arange(500)
    world = World()
    for seed in range(3):
        world.add(
            f"deep-s{seed}", {"loss": [Series(steps, np.full(500, 1.0 + seed))]}, group="deep", seed=seed
        )
    page = open_page(world)
    settled(page, "loss", "chart.series.some(one => one.role === 'mean')")
    mean = next(one for one in chart(page, "loss")["series"] if one["role"] == "mean")
    assert (mean["line"][0], mean["low"][0], mean["high"][0], mean["info"]["n"]) == (2, 1, 3, 3)
    assert page.locator(".runs .of-group").inner_text().split() == ["deep", "n=3", "⋯"]
    page.keyboard.press("g")
    settled(page, "loss", "chart.series.length === 3 && chart.series.every(one => one.role === 'run')")


def test_smoothing_draws_the_servers_mean_over_the_raw_band(open_page: Open, noisy: np.ndarray) -> None:
    page = open_page(one(noisy), "smooth=0.1")
    seen = chart(page, "loss")["series"][0]
    middle = len(seen["x"]) // 2
    assert seen["high"][middle] - seen["low"][middle] > 0.05
    assert abs(seen["line"][middle] - 1) < 0.005


def test_every_chart_has_a_table_behind_it(open_page: Open) -> None:
    values = np.linspace(4, 1, 300)
    values[10] = 9.0
    page = open_page(one(values))
    cells = page.locator(".panel table.visually-hidden tbody tr").first.locator("th, td")
    expect(cells).to_have_text(["run", "1", "9", "1", "300", "0"])
    page.get_by_label("What to do with loss").click()
    page.get_by_role("menuitem", name="Show as table").click()
    assert page.locator(".panel table.numbers tbody tr").count() >= 100


def test_a_metric_that_no_drawn_run_has_leaves_no_stale_line(open_page: Open) -> None:
    world = World()
    steps = np.arange(50)
    world.add("first", {"loss": [Series(steps, np.ones(50))], "other": [Series(steps, np.ones(50))]})
    world.add("second", {"loss": [Series(steps, np.ones(50))]})
    page = open_page(world, "open=metric%3Aother")
    settled(page, "other", "chart.series.length === 1")
    page.get_by_label("Draw first").click()
    settled(page, "other", "chart.series.length === 0 && chart.canvas === null")
    expect(page.locator(".detail .foot")).to_have_text("no values")

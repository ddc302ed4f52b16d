"""Two thousand runs, and runs that are still being trained."""

import numpy as np
from playwright.sync_api import expect

from web.conftest import Open
from web.probing import settled
from web.worlds import Series, World


def test_two_thousand_runs_are_a_page_of_rows_at_a_time(open_page: Open) -> None:
    world = World()
    steps = np.arange(20)
    for index in range(2000):
        world.add(f"sweep-{index:04d}", {"loss": [Series(steps, np.full(20, index))]}, config={"lr": index})
    page = open_page(world)
    expect(page.locator(".runs .head p")).to_contain_text("10 of 2,000 drawn")
    assert page.locator(".runs li").count() < 80
    page.locator(".runs .list").evaluate("list => list.scrollTop = 1500 * 28")
    expect(page.get_by_label("Draw sweep-1505")).to_be_visible()
    page.locator("#find-runs").fill("sweep-0777")
    expect(page.locator(".runs li")).to_have_count(1)
    settled(page, "loss", "chart.series.some(one => one.line[0] === 777)")


def test_a_live_run_grows_on_the_page(open_page: Open) -> None:
    world = World()
    run = world.add("live", {"loss": [Series(np.arange(100), np.linspace(4, 3, 100))]}, status="running")
    page = open_page(world)
    expect(page.get_by_role("img", name="is running")).to_be_visible()
    world.series[run, "loss"] = [Series(np.arange(300), np.linspace(4, 1, 300))]
    world.events.append(
        {"cursor": "1", "runs": [{"id": run, "status": "finished", "steps": 299, "last": {"loss": 1.0},
         "metrics_changed": True, "rows_changed": False, "transitions_changed": False}]}
    )  # fmt: skip
    settled(page, "loss", "chart.series[0].x.at(-1) === 299 && chart.scales.x.max === 299")
    expect(page.get_by_role("img", name="finished")).to_be_attached()
    expect(page.locator(".runs .last")).to_have_text("1")


def test_a_run_that_comes_is_found_in_the_table(open_page: Open) -> None:
    world = World()
    steps = np.arange(50)
    world.add("early", {"loss": [Series(steps, np.ones(50))]})
    page = open_page(world)
    late = world.add("late", {"loss": [Series(steps, np.ones(50))]}, status="running")
    news = {"id": late, "status": "running", "steps": 49, "last": {"loss": 1.0}}
    changed = dict.fromkeys(("metrics_changed", "rows_changed", "transitions_changed"), True)
    world.events.append({"cursor": "1", "runs": [news | changed], "gone": []})
    expect(page.get_by_label("Draw late")).to_be_visible()
    settled(page, "loss", "chart.series.length === 2")


def test_the_table_is_sorted_by_the_server_and_shows_by_what(open_page: Open) -> None:
    world = World()
    steps = np.arange(20)
    for index in (2, 0, 1):
        world.add(f"run-{index}", {"loss": [Series(steps, np.full(20, 1.0 + index))]}, seed=index)
    page = open_page(world)
    page.get_by_label("Sort runs by").select_option("last.loss")
    expect(page.locator(".runs .name")).to_have_text(["run-0", "run-1", "run-2"])
    page.get_by_label("Least first").click()
    expect(page.locator(".runs .last")).to_have_text(["3", "2", "1"])
    assert "sort=-last.loss" in page.url

"""The page on the dashboard's own server: both keep to one contract."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from dashboard_runs import attempt, losses, made
from ontogeny.dashboard.server import Server as Dashboard
from web.conftest import Listening
from web.probing import chart, drag, settled


@pytest.fixture
def address(tmp_path: Path):
    """Three seeds, a resumed run and a run with NaN, served."""
    home = tmp_path / "runs"
    home.mkdir()
    for seed in range(3):
        values = 3 + seed + np.zeros(2000)
        recipe = {"title": "t", "optimizer": {"lr": 0.1}, "training": {"seed": seed, "steps": 2000}}
        made(home, f"deep-{seed}", losses(values), recipe=recipe)
    broken = np.ones(2000)
    broken[1000:1010] = np.nan
    resumed = made(home, "resumed", losses(broken))
    attempt(resumed, 1, losses(np.full(1500, 2.0), first=1001))
    server = Dashboard(home, tmp_path / "cache")
    listening = Listening(server.app)
    yield listening.address
    server.close()
    listening.stop()


def test_the_page_shows_what_the_server_tells(browser: Browser, static: Path, address: str) -> None:
    page = browser.new_page()
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(address)
    settled(page, "loss", "chart.series.length === 6")
    seen = {(one["role"], one["info"].get("n")): one for one in chart(page, "loss")["series"]}
    assert seen["mean", 3]["line"][0] == 4.0
    assert (seen["mean", 3]["low"][0], seen["mean", 3]["high"][0]) == (3.0, 5.0)
    assert {role for role, _ in seen} == {"mean", "run", "seed", "superseded"}
    expect(page.locator(".panel .foot").first).to_contain_text("10 non-finite")
    expect(page.locator(".runs .head p")).to_contain_text("4 of 4 drawn")
    expect(page.locator(".runs .of-group .name")).to_have_text("deep")
    drag(page, "loss", 900, 1100)
    settled(page, "loss", "chart.scales.x.max < 1200 && chart.series.some(one => one.x[1] - one.x[0] === 1)")
    page.get_by_role("button", name="resumed", exact=True).click()
    expect(page.locator(".detail .facts")).to_contain_text("2 attempts")
    assert faults == []
    page.close()

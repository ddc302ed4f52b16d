"""The dashboard in a browser beside a Plotly page of the same data: first figure, zoom, memory, many panels.

    python benchmarks/viewer.py [--quick]

Ten runs of 100,000 steps in one chart, ten runs of 1,200 steps in 48 charts that are all in view, and a heat
map of 12 x 5,000 cells (drawn by the same module in a page of its own, since no page shows one alone). Both
pages are served by this machine to the same headless Chromium, in turns, in a fresh context each time; a time
ends two animation frames after the last line was drawn. The dashboard's times hold all that its server does
with the journals read before (and, without a bound, with nothing read before); Plotly gets every point as raw
float32 from memory.
Zoom: to a tenth of the steps, for the dashboard with the finer buckets fetched and drawn; both times hold the
two frames that end them (33 ms of a screen at rest). Heap: JavaScript objects and array buffers after a
collection. Processor time: of the page's process until the first figure (not of the server, nor of what puts
pages on the screen); other work on the machine disturbs it less. Medians; the bound is on the ratio.

Plotly (`plotly.js-dist-min`) is installed by npm into a temporary folder.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from claims import ROOT, Claim, conclude
from ontogeny.dashboard.server import Server
from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import JournalWriter
from ontogeny.store.run import Run
from viewer_pages import PLOTLY, WATCH, grid, peer, serving

RUNS, LONG, SHORT, PANELS = 10, 100_000, 1_200, 48
GRID = (12, 5_000)
#: Seconds that a new browser is busy with itself, and that all rests before each page.
SETTLING, REST = 3, 0.4
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
#: The window's height by charts: all 48 are in view, so that neither page saves itself the drawing.
HEIGHT = {1: 900, PANELS: 4800}


def curves(steps: int, metrics: int) -> np.ndarray:
    """[run, metric, step] losses that fall, with heavy noise."""
    rng = np.random.default_rng(0)
    fall = 4 * np.arange(1, steps + 1) ** -0.1
    return (fall + 0.05 * rng.standard_t(4, (RUNS, metrics, steps))).astype(np.float32)


def record(home: Path, values: np.ndarray) -> None:
    """The curves as runs of a collection."""
    for index, metrics in enumerate(values):
        run = Run.create(home / f"run-{index}", {"recipe": {"training": {"seed": 0, "steps": len(metrics[0])},
                                                            "optimizer": {"lr": index}}})  # fmt: skip
        path = run.path / "journal" / "000.journal"
        writer = JournalWriter(path)
        writer.note("begin", step=0)
        names = [f"metric{number:02d}" for number in range(len(metrics))]
        for step, column in enumerate(metrics.T.tolist(), start=1):
            writer.append(step, dict(zip(names, column, strict=True)))
        writer.note("end", outcome="finished")
        writer.close()
        compact_journal(path)


def heap(page: Page) -> float:
    """MB of objects and buffers, after a collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    usage: dict[str, Any] = session.send("Runtime.getHeapUsage")
    return (usage["usedSize"] + usage.get("backingStorageSize", 0)) / 1e6


def spent(page: Page) -> float:
    """Milliseconds of processor time that the page's process has used."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    metrics: dict[str, Any] = session.send("Performance.getMetrics")
    return 1000 * next(one["value"] for one in metrics["metrics"] if one["name"] == "ProcessTime")


@contextmanager
def opened(browser: Browser, address: str, height: int, script: str = "") -> Iterator[Page]:
    time.sleep(REST)
    context = browser.new_context(viewport={"width": 1440, "height": height})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(script)
    page.goto(address, wait_until="commit")
    yield page
    context.close()


def told(page: Page, name: str) -> float:
    """A number that the page leaves under a name when it has it."""
    page.wait_for_function("name => window[name]", arg=name, polling=100)
    return page.evaluate("name => window[name]", name)


def brushed(page: Page) -> float:
    """Milliseconds from the mouse's release to the finer buckets."""
    box = page.locator(".u-over").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.45, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.55, middle, steps=4)
    page.mouse.up()
    return told(page, "zoomed")


def measure(quick: bool) -> list[Claim]:
    rounds = 2 if quick else 5
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        libraries = prepared(home)
        found: dict[str, list[float]] = {}
        chromium = shutil.which("chromium") or "/usr/bin/chromium"
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        time.sleep(SETTLING)
        for name, steps, panels in (("chart", LONG, 1), ("panels", SHORT, PANELS)):
            values = curves(steps, panels)
            record(home / name, values)
            keep = lambda key, name=name: found.setdefault(f"{name} {key}", [])
            for _ in range(rounds):
                both(browser, home / name, libraries[1], values, keep)
        cells = np.random.default_rng(0).normal(size=GRID)
        for _ in range(rounds):
            for who, library in zip(("ours", "peer"), libraries, strict=True):
                app = grid(library, cells, ours=who == "ours")
                with serving(lambda _, app=app: app) as address, opened(browser, address, HEIGHT[1]) as page:
                    found.setdefault(f"grid {who} first", []).append(told(page, "finished"))
        browser.close()
    return claims({key: float(np.median(all_)) for key, all_ in found.items()})


def prepared(home: Path) -> tuple[Path, Path]:
    """Our drawing module, bundled by itself, and Plotly's."""
    subprocess.run(["npm", "install", "--silent", "--prefix", str(home), PLOTLY], check=True)
    build = """import { build } from "vite";
        const lib = { entry: "src/figure/draw.ts", formats: ["es"], fileName: () => "draw.js" };
        await build({ configFile: false, logLevel: "error", build: { lib, outDir: process.env.OUT } });"""
    command = ["node", "--input-type=module", "-e", build]
    subprocess.run(command, cwd=ROOT / "web", env=os.environ | {"OUT": str(home / "ours")}, check=True)
    return home / "ours" / "draw.js", home / "node_modules" / "plotly.js-dist-min" / "plotly.min.js"


Keep = Callable[[str], list[float]]


def both(browser: Browser, runs: Path, library: Path, values: np.ndarray, keep: Keep) -> None:
    """One round: the dashboard with a cold server and a warm one, then the Plotly page."""
    panels = values.shape[1]
    watch = WATCH % (RUNS, panels)
    with tempfile.TemporaryDirectory() as cache:
        server = Server(runs, Path(cache))
        with serving(server.app, server.close) as address:
            with opened(browser, address, HEIGHT[panels], watch) as page:
                keep("ours cold").append(told(page, "finished"))
            with opened(browser, address, HEIGHT[panels], watch) as page:
                keep("ours first").append(told(page, "finished"))
                keep("ours spent").append(spent(page))
                keep("ours heap").append(heap(page))
                if panels == 1:
                    keep("ours zoom").append(brushed(page))
                    keep("ours redrawn").append(told(page, "redrawn"))
    with (
        serving(lambda _: peer(library, values)) as address,
        opened(browser, address, HEIGHT[panels]) as page,
    ):
        keep("peer first").append(told(page, "finished"))
        keep("peer spent").append(spent(page))
        keep("peer heap").append(heap(page))
        if panels == 1:
            keep("peer zoom").append(page.evaluate("() => window.zoom(45_000, 55_000)"))


def claims(at: dict[str, float]) -> list[Claim]:
    """The ratios with their bounds, each with both numbers beside it."""
    rows = (
        ("first figure, 10 x 100,000", "chart", "first", "ms", 0.2),
        ("zoom, 10 x 100,000", "chart", "zoom", "ms", 0.1),
        ("heap, 10 x 100,000", "chart", "heap", "MB", 0.4),
        ("48 panels x 10 runs", "panels", "first", "ms", 0.25),
        ("grid of 12 x 5,000", "grid", "first", "ms", 0.2),
    )
    told = []
    for what, name, kind, unit, most in rows:
        ours, theirs = at[f"{name} ours {kind}"], at[f"{name} peer {kind}"]
        told.append(Claim(what, ours / theirs, "of Plotly's", most, f"{ours:.0f} and {theirs:.0f} {unit}"))
    for name in ("chart", "panels"):
        ours, theirs = at[f"{name} ours spent"], at[f"{name} peer spent"]
        told.append(
            Claim(
                f"{name}: processor time of the page",
                ours / theirs,
                "of Plotly's",
                None,
                f"{ours:.0f} and {theirs:.0f} ms",
            )
        )
        told.append(
            Claim(f"{name}: first figure, a server that has read nothing", at[f"{name} ours cold"], "ms")
        )
    told.append(Claim("zoom: first redrawn, with the buckets there are", at["chart ours redrawn"], "ms"))
    return told


if __name__ == "__main__":
    conclude(__doc__, measure)

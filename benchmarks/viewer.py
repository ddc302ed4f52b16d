"""The dashboard in a browser beside Plotly: first figure, zoom, memory, many panels.

    python benchmarks/viewer.py [--quick]

Ten runs of 100,000 steps in a chart and a heat map of 12 x 5,000 cells on one page (layers, with the metric
opened beside), and ten runs of 1,200 steps in 48 charts. Both pages are served by this machine to the same
headless Chromium, in turns, in a fresh context each time, all at rest before; a time ends two animation
frames after the last line was drawn. The dashboard's times hold all that its server does with the journals
read before (and, without a bound, with nothing read before); Plotly gets every point as raw float32 from
memory.

48 charts: in a window of 1440 x 900, in which the dashboard makes the charts that are near (that is what it
does about many panels) and Plotly all 48; and, without a bound, in a window so high that all are in view,
with a bare page of uPlot, which draws the dashboard's lines, beside it: the floor.
Zoom: to a tenth of the steps, of both figures at once, from the release of a brush that took 0.4 s, or from
the call of Plotly's relayout. Two frames of a screen at rest are taken off: no page is faster. The
dashboard's counts when the finer buckets are drawn. Heap: JavaScript objects and array buffers after a
collection. Processor time: of the page's process until the first figure (not of the server, nor of what puts
pages on the screen). Medians; the bound is on the ratio.

Plotly (`plotly.js-dist-min`) is installed by npm into a temporary folder.
"""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from claims import ROOT, Claim, conclude
from ontogeny.dashboard.server import Server
from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import JournalWriter
from ontogeny.store.rows import write_rows
from ontogeny.store.run import Run
from viewer_pages import PLOTLY, WATCH, WITH_PLOTLY, WITH_UPLOT, peer, serving

RUNS, LONG, SHORT, PANELS = 10, 100_000, 1_200, 48
#: Charts of 48 that are in view in a usual window; those that are near are drawn, too.
NEAR = 12
UPLOT = "node_modules/uplot/dist/uPlot.iife.min.js"
GRID = (12, 5_000)
#: Seconds that a new browser is busy with itself, and that all rests before each page.
SETTLING, REST = 3, 0.4
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
#: A usual window, and one in which all charts are in view.
WINDOW, HIGH = 900, 4800
#: Seconds that a brush takes, and that it is held before it is let go.
BRUSH, HELD = 0.25, 0.15
#: A part with one number a layer.
PART = "residual_norm"


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


def measured(run: Path, cells: np.ndarray) -> None:
    """The cells [layer, checkpoint] as what was measured on a run."""
    columns = cells.shape[1]
    texts = "component parameters settings stimulus stimulus_name reference condition reason array fit"
    said = {"run": "r", "attempt": 0, "part": PART, "version": 1, "n": 1, "status": "ok"}
    said |= dict.fromkeys(texts.split(), "")
    rows = [
        {
            **said,
            "step": (at + 1) * LONG // columns,
            "checkpoint": str(at),
            "layer": layer,
            "value": float(value),
        }
        for (layer, at), value in np.ndenumerate(cells)
    ]
    write_rows(run, "all", rows, {})


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


def brushed(page: Page) -> None:
    """Brushes a tenth of the chart."""
    box = page.locator(".plot .u-over").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.45, middle)
    page.mouse.down()
    for share in np.linspace(0.45, 0.55, 16)[1:]:
        page.mouse.move(box["x"] + box["width"] * share, middle)
        time.sleep(BRUSH / 15)
    time.sleep(HELD)
    page.mouse.up()


@dataclass(frozen=True)
class Case:
    """Runs in so many charts of a window; with cells, a heat map beside the first."""

    name: str
    runs: Path
    values: np.ndarray
    cells: np.ndarray
    height: int
    #: Charts that the dashboard makes at least.
    made: int

    @property
    def both(self) -> bool:
        return self.cells.size > 0


def measure(quick: bool) -> list[Claim]:
    rounds = 2 if quick else 5
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        plotly = prepared(home)
        long, short = curves(LONG, 1), curves(SHORT, PANELS)
        cells, none = np.random.default_rng(0).normal(size=GRID), np.zeros((0, 0))
        record(home / "long", long)
        measured(home / "long" / "run-0", cells)
        record(home / "short", short)
        cases = [
            Case("both", home / "long", long, cells, WINDOW, 1),
            Case("panels", home / "short", short, none, WINDOW, NEAR),
            Case("all", home / "short", short, none, HIGH, PANELS),
        ]
        found: dict[str, list[float]] = {}
        chromium = shutil.which("chromium") or "/usr/bin/chromium"
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        time.sleep(SETTLING)
        for case in cases:
            for _ in range(rounds):
                keep = lambda key, value, name=case.name: found.setdefault(f"{name} {key}", []).append(value)
                dashboard(browser, case, keep)
                beside(browser, case, plotly, WITH_PLOTLY, "plotly", keep)
                if case.name == "all":
                    beside(browser, case, ROOT / "web" / UPLOT, WITH_UPLOT, "uplot", keep)
        browser.close()
    return claims({key: float(np.median(all_)) for key, all_ in found.items()})


def prepared(home: Path) -> Path:
    """Plotly's file."""
    subprocess.run(["npm", "install", "--silent", "--prefix", str(home), PLOTLY], check=True)
    return home / "node_modules" / "plotly.js-dist-min" / "plotly.min.js"


Keep = Callable[[str, float], None]


def dashboard(browser: Browser, case: Case, keep: Keep) -> None:
    """The dashboard with a cold server and a warm one."""
    watch = WATCH % str([RUNS, case.made, int(case.both)])
    place = "#page=layers&open=metric:metric00" if case.both else ""
    with tempfile.TemporaryDirectory() as cache:
        server = Server(case.runs, Path(cache))
        with serving(server.app, server.close) as address:
            with opened(browser, address + place, case.height, watch) as page:
                keep("ours cold", told(page, "first"))
            with opened(browser, address + place, case.height, watch) as page:
                keep("ours first", told(page, "first"))
                keep("ours finished", told(page, "finished"))
                keep("ours spent", spent(page))
                keep("ours heap", heap(page))
                if case.both:
                    time.sleep(REST)
                    brushed(page)
                    still = page.evaluate(
                        "async () => (await frames2(), -performance.now() + (await frames2()))"
                    )
                    keep("ours zoom", told(page, "zoomed") - still)
                    keep("ours redrawn", told(page, "redrawn"))
                    keep("still", still)


def beside(browser: Browser, case: Case, library: Path, draw: str, who: str, keep: Keep) -> None:
    """The page of another library."""
    with (
        serving(lambda _: peer(library, case.values, case.cells, draw)) as address,
        opened(browser, address, case.height) as page,
    ):
        keep(f"{who} first", told(page, "first"))
        keep(f"{who} finished", told(page, "finished"))
        keep(f"{who} spent", spent(page))
        keep(f"{who} heap", heap(page))
        if case.both:
            time.sleep(REST)
            still = page.evaluate("async () => (await frames2(), -performance.now() + (await frames2()))")
            keep(f"{who} zoom", page.evaluate("() => window.zoom(45_000, 55_000)") - still)


def claims(at: dict[str, float]) -> list[Claim]:
    """The ratios with their bounds, each with both numbers beside it."""
    rows = (
        ("first figure, 10 x 100,000 and 12 x 5,000", "both", "first", "ms", 0.2),
        ("both figures", "both", "finished", "ms", None),
        ("zoom of both", "both", "zoom", "ms", 0.1),
        ("heap of both", "both", "heap", "MB", 0.4),
        ("48 panels x 10 runs", "panels", "first", "ms", 0.25),
        ("48 panels x 10 runs, all in view", "all", "first", "ms", None),
        ("both: processor time of the page", "both", "spent", "ms", None),
        ("48 panels: processor time of the page", "panels", "spent", "ms", None),
        ("48 panels, all in view: processor time of the page", "all", "spent", "ms", None),
    )
    told = []
    for what, name, kind, unit, most in rows:
        ours, theirs = at[f"{name} ours {kind}"], at[f"{name} plotly {kind}"]
        told.append(Claim(what, ours / theirs, "of Plotly's", most, f"{ours:.0f} and {theirs:.0f} {unit}"))
    ours, floor = at["all ours first"], at["all uplot first"]
    told.append(
        Claim(
            "48 panels, all in view", ours / floor, "of bare uPlot's", None, f"{ours:.0f} and {floor:.0f} ms"
        )
    )
    for name in ("both", "panels"):
        told.append(
            Claim(f"{name}: first figure, a server that has read nothing", at[f"{name} ours cold"], "ms")
        )
    told.append(Claim("zoom: redrawn with the buckets there are", at["both ours redrawn"], "ms"))
    told.append(Claim("two frames at rest, taken off the zooms", at["both still"], "ms"))
    return told


if __name__ == "__main__":
    conclude(__doc__, measure)

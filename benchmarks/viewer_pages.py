"""The pages that the viewer's benchmark compares, and a server for each."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

PLOTLY = "plotly.js-dist-min@4.1.2"

#: In every page: a time ends two frames after the last line was drawn.
FRAMES = """window.frames2 = () => new Promise(done =>
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))));"""

#: In the dashboard: when all lines are drawn (and, where asked for, the heat map), and when a brush has been
#: followed: with the buckets there were, and then with finer ones.
WATCH = (
    FRAMES
    + """
(async () => {
  const [runs, panels, map] = %s;
  const charts = () => window.__ontogeny?.charts ?? [];
  // By a timer: asking for a frame would have the browser make one that nobody needs.
  const until = async (ready) => { while (!ready()) await new Promise((done) => setTimeout(done, 8)); };
  const drawn = (all) => all.length >= panels && all.every((one) => one.lines === runs);
  await until(() => drawn(charts()));
  window.first = await frames2();
  if (map) await until(() => document.querySelector("canvas.figure-canvas")?.width);
  window.finished = map ? await frames2() : window.first;
  let released = 0;
  addEventListener("mouseup", () => (released = performance.now()), true);
  await until(() => released && (({ min, max }) => max - min < 20_000)(charts()[0].scales.x));
  window.redrawn = performance.now() - released;
  await until(() => (([a, b]) => b - a < 40)(charts()[0].series[0].x));
  window.zoomed = (await frames2()) - released;
})();"""
)

PAGE = """<!doctype html><meta charset="utf-8"><style>
body{margin:0} .one{height:%(height)dpx}
#all{display:grid;grid-template-columns:repeat(%(columns)s,1fr)}</style>
<div id="all"></div><script src="library.js"></script><script>
%(frames)s
const [runs, panels, steps] = %(shape)s;
const [rows, columns] = %(cells)s;
const place = () => {
  const element = document.createElement("div");
  element.className = "one";
  document.getElementById("all").append(element);
  return element;
};
%(draw)s
(async () => {
  const values = new Float32Array(await (await fetch("values")).arrayBuffer());
  const x = Float32Array.from({ length: steps }, (_, step) => step + 1);
  for (let panel = 0; panel < panels; panel++) {
    const lines = Array.from({ length: runs }, (_, run) => {
      const start = (run * panels + panel) * steps;
      return values.subarray(start, start + steps);
    });
    await chart(place(), x, lines);
  }
  window.first = await frames2();
  if (rows) {
    const cells = new Float32Array(await (await fetch("cells")).arrayBuffer());
    const z = Array.from({ length: rows }, (_, row) => cells.subarray(row * columns, (row + 1) * columns));
    await map(place(), Float32Array.from({ length: columns }, (_, at) => ((at + 1) * steps) / columns), z);
  }
  window.finished = rows ? await frames2() : window.first;
})();
window.zoom = async (from, to) => {
  const start = performance.now();
  const all = [...document.querySelectorAll(".one")];
  await Promise.all(all.map((one) => Plotly.relayout(one, { "xaxis.range": [from, to] })));
  return (await frames2()) - start;
};
</script>"""
WITH_PLOTLY = """
const layout = { margin: { l: 40, r: 10, t: 20, b: 25 }, showlegend: false };
const chart = (element, x, lines) =>
  Plotly.newPlot(element, lines.map((y) => ({ x, y, mode: "lines", line: { width: 1.5 } })), layout);
const map = (element, x, z) =>
  Plotly.newPlot(element, [{ type: "heatmap", x, z, colorscale: "Viridis" }], layout);
"""
WITH_UPLOT = """
const chart = (element, x, lines) => new uPlot({
  width: element.clientWidth, height: element.clientHeight, legend: { show: false },
  scales: { x: { time: false } }, series: [{}, ...lines.map(() => ({ stroke: "teal", width: 1 }))],
}, [x, ...lines], element);
"""


def peer(library: Path, values: np.ndarray, cells: np.ndarray, draw: str = WITH_PLOTLY) -> Starlette:
    """A page on which a library draws [run, metric, step], a chart for every metric, and a map of cells."""
    runs, panels, steps = values.shape
    said = {"shape": [runs, panels, steps], "cells": list(cells.shape), "frames": FRAMES, "draw": draw}
    page = PAGE % {**said, "height": 210 if panels > 1 else 420, "columns": 3 if panels > 1 else 2}
    raw, more = values.tobytes(), cells.astype(np.float32).tobytes()
    return Starlette(
        routes=[
            Route("/", lambda _: HTMLResponse(page)),
            Route("/library.js", lambda _: FileResponse(library, media_type="text/javascript")),
            Route("/values", lambda _: Response(raw, media_type="application/octet-stream")),
            Route("/cells", lambda _: Response(more, media_type="application/octet-stream")),
        ]
    )


@contextmanager
def serving(app: Callable[[int], Any], close: Callable[[], None] = lambda: None) -> Iterator[str]:
    """The address of an application that is served while the context lasts."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    port = listener.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app(port), log_level="critical", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}/"
    close()
    server.should_exit = True
    thread.join(10)
    listener.close()

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
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

PLOTLY = "plotly.js-dist-min@4.1.2"

#: In every page: a time ends two frames after the last line was drawn.
FRAMES = """window.frames2 = () => new Promise(done =>
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))));"""

#: In the dashboard: when all lines are drawn, and when a brush has been followed, first with the buckets
#: there were (to the frame in which they are drawn) and then with finer ones.
WATCH = (
    FRAMES
    + """
(async () => {
  const charts = () => window.__ontogeny?.charts ?? [];
  // By a timer: asking for a frame would have the browser make one that nobody needs.
  const until = async (ready) => { while (!ready()) await new Promise((done) => setTimeout(done, 10)); };
  await until(() => charts().filter(one => one.lines === %d).length >= %d);
  window.finished = await frames2();
  let released = 0;
  addEventListener("mouseup", () => (released = performance.now()), true);
  await until(() => released && (({ min, max }) => max - min < 20_000)(charts()[0].scales.x));
  const before = performance.now() - released;
  await until(() => (([a, b]) => b - a < 40)(charts()[0].series[0].x));
  window.redrawn = before;
  window.zoomed = (await frames2()) - released;
})();"""
)

PAGE = """<!doctype html><meta charset="utf-8"><style>
body{margin:0} #all{display:grid;grid-template-columns:repeat(3,1fr)} .one{height:%(height)dpx}</style>
<div id="all"></div><script src="plotly.min.js"></script><script>
%(frames)s
const [runs, panels, steps] = %(shape)s;
const layout = { margin: { l: 40, r: 10, t: 20, b: 25 }, showlegend: false };
window.drawn = 0;
(async () => {
  const values = new Float32Array(await (await fetch("values")).arrayBuffer());
  const x = Float32Array.from({ length: steps }, (_, step) => step + 1);
  for (let panel = 0; panel < panels; panel++) {
    const element = document.createElement("div");
    element.className = "one";
    document.getElementById("all").append(element);
    const lines = Array.from({ length: runs }, (_, run) => {
      const start = (run * panels + panel) * steps;
      return { x, y: values.subarray(start, start + steps), mode: "lines", line: { width: 1.5 } };
    });
    await Plotly.newPlot(element, lines, layout);
  }
  window.finished = await frames2();
  window.drawn = panels;
})();
window.zoom = async (from, to) => {
  const start = performance.now();
  await Plotly.relayout(document.querySelector(".one"), { "xaxis.range": [from, to] });
  return (await frames2()) - start;
};
</script>"""


def peer(library: Path, values: np.ndarray) -> Starlette:
    """A page on which Plotly draws [run, metric, step], a chart for every metric."""
    runs, panels, steps = values.shape
    page = PAGE % {"shape": f"[{runs}, {panels}, {steps}]", "height": 210, "frames": FRAMES}
    raw = values.tobytes()
    return Starlette(
        routes=[
            Route("/", lambda _: HTMLResponse(page)),
            Route("/plotly.min.js", lambda _: FileResponse(library)),
            Route("/values", lambda _: Response(raw, media_type="application/octet-stream")),
        ]
    )


GRID = """<!doctype html><meta charset="utf-8"><style>body{margin:0} #all{height:400px}</style>
<div id="all"></div>%s
<script type="module">
%s
const values = await (await fetch("values")).json();
const element = document.getElementById("all");
%s
window.finished = await frames2();
</script>"""
OURS = """const { drawFigure } = await import("./library.js");
const x = values[0].map((_, step) => step), y = values.map((_, layer) => String(layer));
const heat = { mark: "Heat", label: "grid", x, y, values, low: -4, high: 4,
               colours: "sequential", scale: "linear" };
const panel = { title: "grid", marks: [heat], x: "step", y: "layer", x_scale: "linear", y_scale: "linear",
                x_range: null, y_range: null, latest: "" };
drawFigure(element, { title: "grid", panels: [panel], note: "", columns: 1 });"""
THEIRS = """await Plotly.newPlot(element, [{ type: "heatmap", z: values, colorscale: "Viridis" }]);"""


def grid(library: Path, values: np.ndarray, ours: bool) -> Starlette:
    """A page with one heat map of [row, column], drawn by our module or by Plotly."""
    script = "" if ours else '<script src="library.js"></script>'
    page = GRID % (script, FRAMES, OURS if ours else THEIRS)
    return Starlette(
        routes=[
            Route("/", lambda _: HTMLResponse(page)),
            Route("/library.js", lambda _: FileResponse(library, media_type="text/javascript")),
            Route("/values", lambda _: JSONResponse(values.round(4).tolist())),
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

"""The Plotly page that the viewer's benchmark compares with, and a server for either page."""

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

PAGE = """<!doctype html><meta charset="utf-8"><style>
body{margin:0} #all{display:grid;grid-template-columns:repeat(3,1fr)} .one{height:%(height)dpx}</style>
<div id="all"></div><script src="plotly.min.js"></script><script>
const [runs, panels, steps] = %(shape)s;
const frames = () => new Promise(done =>
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))));
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
  window.finished = await frames();
  window.drawn = panels;
})();
window.zoom = async (from, to) => {
  const start = performance.now();
  await Plotly.relayout(document.querySelector(".one"), { "xaxis.range": [from, to] });
  return (await frames()) - start;
};
</script>"""


def peer(library: Path, values: np.ndarray) -> Starlette:
    """A page on which Plotly draws [run, metric, step], a chart for every metric."""
    runs, panels, steps = values.shape
    page = PAGE % {"shape": f"[{runs}, {panels}, {steps}]", "height": 210}
    raw = values.tobytes()
    return Starlette(
        routes=[
            Route("/", lambda _: HTMLResponse(page)),
            Route("/plotly.min.js", lambda _: FileResponse(library)),
            Route("/values", lambda _: Response(raw, media_type="application/octet-stream")),
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

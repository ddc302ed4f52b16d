"""A stand-in for the dashboard's server: the same contract over made-up runs, so that a browser test knows
every number it should see. The series are bucketed by the code the real server uses.

`python -m web.standin PORT [RUNS] [METRICS]`, in the folder tests, serves it by itself.
"""

import asyncio
import json
import math
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ontogeny.dashboard import frames
from ontogeny.dashboard.frames import Column
from ontogeny.views.buckets import buckets, smoothed
from web.worlds import World, example, strict

STATIC = Path(__file__).parents[2] / "src/ontogeny/dashboard/static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data: blob:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
COLUMNS = ("left", "right", "first", "low", "high", "last", "count", "nonfinite")
TYPES = {"left": "f8", "right": "f8", "count": "u4", "nonfinite": "u4"}


def frame(header: dict[str, Any], columns: list[tuple[str, str, np.ndarray, int | None]]) -> bytes:
    """The contract's binary frame."""
    return frames.frame(header, [Column(*column) for column in columns])


Query = Mapping[str, str]


def answer(made: Callable[[World, Query], bytes], world: World, request: Request) -> Response:
    """The frame of one metric; of several one after the other, each after its length."""
    query = request.query_params
    held = [made(world, {**query, "metric": metric}) for metric in query.getlist("metric")]
    if len(held) > 1:
        held = [frames.prefixed(one) for one in held]
    return Response(b"".join(held), media_type="application/octet-stream")


def answer_group(world: World, query: Query) -> bytes:
    """The mean of each group's runs over the buckets that all of them have."""
    unit = _unit(query.get("x", "step"))
    groups: dict[str, list[str]] = {}
    for run in world.runs:
        if run["id"] in query["runs"].split(","):
            groups.setdefault(run["group"], []).append(run["id"])
    entries, columns = [], []
    for index, (group, ids) in enumerate(groups.items()):
        parts = [world.series[run, query["metric"]][-1] for run in ids]
        level = math.ceil(math.log2(max(1, np.ptp(parts[0].steps) / int(query.get("most", 600)))))
        made = [buckets(part.steps, part.values, spacing="linear", level=level) for part in parts]
        lines = np.array([one.last for one in made])
        entries.append({"group": group, "n": len(ids), "runs": ids, "buckets": len(made[0])})
        shown = {"left": made[0].left * unit, "right": made[0].right * unit, "mean": lines.mean(0),
                 "low": lines.min(0), "high": lines.max(0), "n": np.full(len(made[0]), len(ids))}  # fmt: skip
        kinds = TYPES | {"n": "u4"}
        columns += [(name, kinds.get(name, "f4"), column, index) for name, column in shown.items()]
    header = {"x": query.get("x", "step"), "scale": "linear", "level": 0, "series": entries}
    return frame(header, columns)


def _unit(axis: str) -> float:
    return {"step": 1, "tokens": 1024, "time": 0.05}[axis]


def answer_series(world: World, query: Query) -> bytes:
    """Buckets of every attempt, all of one width."""
    metric, most = query["metric"], int(query.get("most", 600))
    window = float(query.get("smooth", 0))
    wanted = [
        (run, attempt, part)
        for run in query["runs"].split(",")
        for attempt, part in enumerate(world.series.get((run, metric), []))
    ]
    low, high = float(query.get("from", -math.inf)), float(query.get("to", math.inf))
    unit = _unit(query.get("x", "step"))
    inside = [(part.steps * unit >= low) & (part.steps * unit <= high) for _, _, part in wanted]
    level = 0
    for (_, _, part), kept in zip(wanted, inside, strict=True):
        span = max(1, int(np.ptp(part.steps[kept])) if kept.any() else 1)
        level = max(level, math.ceil(math.log2(max(1, span / most))))
    entries, columns = [], []
    for index, ((run, attempt, part), kept) in enumerate(zip(wanted, inside, strict=True)):
        made = buckets(part.steps[kept], part.values[kept], spacing="linear", level=level)
        entries.append(
            {"run": run, "attempt": attempt, "superseded": part.superseded, "points": int(kept.sum()),
             "buckets": len(made), "nonfinite": int(made.nonfinite.sum()),
             "segments": [[attempt, 0, float(part.steps[-1] * unit)]],
             "x0": 0, "x1": float(part.steps[-1] * unit)}
        )  # fmt: skip
        for name in COLUMNS:
            column = getattr(made, name)
            columns.append(
                (name, TYPES.get(name, "f4"), column * unit if name in ("left", "right") else column, index)
            )
        if window:
            line = smoothed(part.steps, part.values, at=made.centre, window=window)
            columns.append(("smooth", "f4", line, index))
    names = [*COLUMNS, *(["smooth"] if window else [])]
    header = {
        "x": query.get("x", "step"),
        "scale": "linear",
        "level": level,
        "series": entries,
        "columns": names,
    }
    return frame(header, columns)


def application(world: World) -> Starlette:
    """The stand-in's routes."""

    def collection(request: Request) -> Response:
        q, page = request.query_params.get("q", ""), int(request.query_params.get("page", 0))
        size = int(request.query_params.get("size", 100))
        runs = [
            run for run in world.runs if all(word in json.dumps(run).lower() for word in q.lower().split())
        ]
        columns = [{"key": "last.loss", "title": "loss", "kind": "metric"}]
        if sort := request.query_params.get("sort"):
            metric = sort.removeprefix("-").removeprefix("last.")
            runs = sorted(runs, key=lambda run: run["last"][metric], reverse=sort.startswith("-"))
        shown = runs[page * size : (page + 1) * size]
        return JSONResponse(
            {"name": "stand-in", "total": len(runs), "cursor": "0", "columns": columns, "runs": shown}
        )

    def run(request: Request) -> Response:
        identity = request.path_params["run"]
        found = next((run for run in world.runs if run["id"] == identity), None)
        if found is None:
            return JSONResponse({"error": "no such run"}, 404)
        names = world.metrics(identity)
        points = [
            {"step": step, "tokens": step * _unit("tokens"), "seconds": step * _unit("time")}
            for step in world.checkpoints
        ]
        has = dict.fromkeys(("patterns", "tokens", "samples", "spectra"), False)
        return JSONResponse(
            found | {"attempts": [], "checkpoints": points, "metrics": len(names), "prefixes": [],
                     "parts": [], "transitions": len(world.transitions), "stimuli": [], "has": has}
        )  # fmt: skip

    def metrics(request: Request) -> Response:
        identity, q = request.path_params["run"], request.query_params.get("q", "")
        page, size = int(request.query_params.get("page", 0)), int(request.query_params.get("size", 200))
        names = [name for name in world.metrics(identity) if q in name]
        rows = [
            {"name": name, "last": strict(world.series[identity, name][-1].values[-1]),
             "count": sum(len(part.steps) for part in world.series[identity, name])}
            for name in names[page * size : (page + 1) * size]
        ]  # fmt: skip
        return JSONResponse({"total": len(names), "page": page, "names": rows})

    def transitions(request: Request) -> Response:
        wanted = request.query_params.get("runs", "").split(",")
        return JSONResponse([entry for entry in world.transitions if entry["run"] in wanted])

    async def events(request: Request) -> Response:
        async def tell() -> AsyncIterator[str]:
            yield ": here\n\n"
            told = 0
            while not await request.is_disconnected():
                for event in world.events[told:]:
                    yield f"id: {told}\ndata: {json.dumps(event)}\n\n"
                told = len(world.events)
                await asyncio.sleep(0.05)

        return StreamingResponse(tell(), media_type="text/event-stream")

    def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html", headers={"Content-Security-Policy": POLICY})

    def asset(request: Request) -> Response:
        return FileResponse(STATIC / "assets" / request.path_params["name"])

    return Starlette(
        routes=[
            Route("/", page),
            Route("/assets/{name}", asset),
            Route("/api/collection", collection),
            Route("/api/runs/{run}", run),
            Route("/api/runs/{run}/metrics", metrics),
            Route("/api/series", lambda request: answer(answer_series, world, request)),
            Route("/api/group", lambda request: answer(answer_group, world, request)),
            Route("/api/transitions", transitions),
            Route("/api/events", events),
        ]
    )


if __name__ == "__main__":
    port, *counts = (int(word) for word in sys.argv[1:])
    uvicorn.run(application(example(*counts)), host="127.0.0.1", port=port, log_level="warning")

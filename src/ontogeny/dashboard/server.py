"""The dashboard's routes: ids for paths, GET only, read-only towards runs."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from ontogeny.dashboard import courses
from ontogeny.dashboard.answers import BINARY, answering
from ontogeny.dashboard.cache import cache_home
from ontogeny.dashboard.entry import Entry
from ontogeny.dashboard.events import Events
from ontogeny.dashboard.figures import figure
from ontogeny.dashboard.frames import prefixed
from ontogeny.dashboard.guard import Guard
from ontogeny.dashboard.looking import Looking
from ontogeny.dashboard.measured import notes, rows_answer, transition_list, vector_answer
from ontogeny.dashboard.pages import Pages
from ontogeny.dashboard.queries import MOST_RUNS, Ask, BadQuery, paged, required
from ontogeny.dashboard.run_page import run_page, samples_of, tree
from ontogeny.dashboard.runs import collection
from ontogeny.dashboard.shelf import Shelf
from ontogeny.dashboard.watch import Watch
from ontogeny.errors import OntogenyError

#: Bytes that go to a page at once, after the first frame: each sending costs both sides.
PART = 1 << 18
#: Seconds between two runs that are read though nobody asked yet.
UNHURRIED = 0.01


class Server:
    """What every request shares: the shelf of runs, the cache, the built page."""

    def __init__(self, path: Path, cache: Path | None = None) -> None:
        self.shelf = Shelf(path, cache or cache_home())
        self.pages = Pages()
        self.watch = Watch(self.shelf)
        self.looking = Looking(self.shelf.cache)

    def app(self, port: int) -> ASGIApp:
        """The application, to be served on that port of a loopback address."""
        routes = [
            Route("/", self.pages.page),
            Route("/assets/{name:path}", self.pages.asset),
            Route("/favicon.ico", self.pages.asset),
            Route("/api/events", Events(self.watch).stream),
            *(Route(f"/api/{path}", answering(handler)) for path, handler in self._handlers().items()),
        ]
        return Guard(Starlette(routes=routes), port)

    def warm(self) -> None:
        """Read what somebody will ask for: the catalogue, and unhurriedly a summary of every run."""
        notes()
        for entry in self.shelf.entries():
            if self.watch.stopped.wait(UNHURRIED):
                return
            with contextlib.suppress(OntogenyError, OSError):
                self.shelf.summaries.of(entry)
        self.shelf.summaries.save(0.0)

    def close(self) -> None:
        """The server is about to stop: end what is open, keep what the next one can use."""
        self.watch.stopped.set()
        self.looking.close()
        self.shelf.summaries.save(0.0)
        self.shelf.kept.close()

    def _handlers(self) -> dict[str, Any]:
        return {
            "collection": lambda request: collection(self.shelf, request.query_params, self.watch.cursor),
            "tree": lambda request: tree(self.shelf),
            "transitions": self._transitions,
            "runs/{run}": lambda request: run_page(self.shelf, self._run(request)),
            "runs/{run}/metrics": self._metrics,
            "runs/{run}/rows": lambda request: rows_answer(self._run(request).tables, request.query_params),
            "runs/{run}/vector": lambda request: vector_answer(
                self._run(request).tables, request.query_params
            ),
            "runs/{run}/pattern": lambda request: self.looking.pattern(
                self._run(request), request.query_params
            ),
            "runs/{run}/tokens": lambda request: self.looking.tokens(
                self._run(request), request.query_params
            ),
            "figures": lambda request: figure(self._runs(request)[0], request.query_params),
            "runs/{run}/samples": lambda request: samples_of(self._run(request)),
            "series": lambda request: self._courses(courses.series, request),
            "group": lambda request: self._courses(courses.groups, request),
            "compare": self._compare,
        }

    def _runs(self, request: Request) -> Sequence[Entry]:
        keys = [key for key in required(request.query_params, "runs").split(",") if key]
        if not 0 < len(keys) <= MOST_RUNS:
            raise BadQuery("runs is not usable", received=f"{len(keys)} ids", allowed=f"1 to {MOST_RUNS}")
        return self.shelf.chosen(list(dict.fromkeys(keys)))

    def _run(self, request: Request) -> Entry:
        return self.shelf.entry(request.path_params["run"])

    def _courses(self, made: Callable[[Sequence[Entry], Ask], bytes], request: Request) -> bytes | Response:
        """The frame of a metric; of several each as soon as it is made, so that the page draws meanwhile."""
        runs, query = self._runs(request), request.query_params
        asks = Ask.several(query, query.getlist("metric"))
        if len(asks) == 1:
            return made(runs, asks[0])
        frames = (prefixed(made(runs, ask)) for ask in asks)
        return StreamingResponse(_in_parts(frames), media_type=BINARY)

    def _metrics(self, request: Request) -> Any:
        return courses.metric_page(self._run(request), request.query_params, *paged(request.query_params))

    def _transitions(self, request: Request) -> Any:
        found = ((entry.id, entry.tables.transitions()) for entry in self._runs(request))
        return [line for run, table in found for line in transition_list(run, table)]

    def _compare(self, request: Request) -> bytes:
        query = request.query_params
        a, b = (self.shelf.entry(required(query, name)) for name in ("a", "b"))
        return courses.compared(a, b, Ask.of(query))


def _in_parts(frames: Iterable[bytes]) -> Iterator[bytes]:
    """The first frame by itself, the others some together."""
    held: list[bytes] = []
    for number, one in enumerate(frames):
        held.append(one)
        if number == 0 or sum(map(len, held)) > PART:
            yield b"".join(held)
            held = []
    yield b"".join(held)

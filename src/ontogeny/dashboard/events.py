"""The stream of changes, as server-sent events: deltas since a cursor, and a sign of life now and then."""

import asyncio
import time
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from ontogeny.dashboard.frames import strict
from ontogeny.dashboard.watch import Watch

#: Seconds between looks for news, and between signs of life where there are none.
CHECK, BEAT = 0.25, 15.0
MOST_LISTENERS = 64


class Events:
    """Any number of listeners, up to a limit; each has a cursor of its own."""

    def __init__(self, watch: Watch) -> None:
        self.watch, self.listeners = watch, 0

    async def stream(self, request: Request) -> Response:
        """Begins at `Last-Event-ID`, else at `cursor`, else now; a cursor of another server says `reset`."""
        if self.listeners >= MOST_LISTENERS:
            return PlainTextResponse("too many listeners\n", 503, {"Retry-After": "15"})
        asked = request.headers.get("last-event-id") or request.query_params.get("cursor", "")
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._events(asked), media_type="text/event-stream", headers=headers)

    async def _events(self, asked: str) -> AsyncIterator[bytes]:
        watch = self.watch
        self.listeners += 1
        watch.listen()
        try:
            since, first = watch.since(asked), await run_in_threadpool(lambda: watch.cursor)
            if since is None:
                since = watch.since(first) or 0
                yield _event(first, {"cursor": first, "runs": [], "gone": [], "reset": bool(asked)})
            beat = time.monotonic()
            while not watch.stopped.is_set():
                if watch.version > since:
                    found = await run_in_threadpool(watch.changes, since)
                    since = watch.since(found["cursor"]) or since
                    yield _event(found["cursor"], found)
                    beat = time.monotonic()
                elif time.monotonic() - beat > BEAT:
                    yield b": alive\n\n"
                    beat = time.monotonic()
                await asyncio.sleep(CHECK)
        finally:
            self.listeners -= 1
            watch.leave()


def _event(cursor: str, document: object) -> bytes:
    return b"id: " + cursor.encode() + b"\ndata: " + strict(document) + b"\n\n"

"""The page and its files, as they were built into the package; and what is shown where they were not."""

import mimetypes
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

STATIC = Path(__file__).with_name("static")
UNBUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>ontogeny</title></head><body>
<h1>The server runs; its page was not built.</h1>
<p>In a checkout, <code>make web</code> builds it (it needs Node); an installed package brings it along.</p>
<p>The data are there: <a href="/api/collection">/api/collection</a>.</p>
</body></html>
"""
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


class Pages:
    """Serves the files that lie in `static`, by the names of that listing: no other path exists."""

    def __init__(self, static: Path = STATIC) -> None:
        self.static = static
        self._files: dict[str, Path] = {}

    def page(self, request: Request) -> Response:
        """The page itself."""
        return self._named("index.html") or HTMLResponse(UNBUILT)

    def asset(self, request: Request) -> Response:
        """One of its files."""
        name = request.url.path.lstrip("/")
        return self._named(name) or PlainTextResponse("there is no such file\n", 404)

    def _named(self, name: str) -> Response | None:
        if name not in self._files:  # not yet: it may have been built since
            found = [path for path in self.static.rglob("*") if path.is_file()]
            self._files = {path.relative_to(self.static).as_posix(): path for path in found}
        path = self._files.get(name)
        return None if path is None else _sent(path)


def _sent(path: Path) -> Response:
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    try:
        data = path.read_bytes()
    except OSError:
        return PlainTextResponse("there is no such file\n", 404)
    return Response(data, media_type=kind, headers={"Cache-Control": "no-cache"})

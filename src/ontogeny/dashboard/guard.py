"""Who may ask: only pages of this very server, on this machine; and what every answer is allowed to do."""

from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data: blob:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}
ALLOWED_SITES = ("", "same-origin", "none")


class Guard:
    """Refuses (403) a foreign Host, which a rebound name would send, and a foreign Origin; and every method
    but GET and HEAD (405). Adds the headers above to every answer."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.hosts = frozenset(f"{name}:{port}" for name in LOOPBACK)
        if port == 80:
            self.hosts |= frozenset(LOOPBACK)
        self.origins = frozenset(f"http://{host}" for host in self.hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            return
        refusal = self._refusal(scope)
        answer: ASGIApp = self.app if refusal is None else refusal
        await answer(scope, receive, _with_headers(send))

    def _refusal(self, scope: MutableMapping[str, Any]) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return PlainTextResponse("this server answers on its own address only\n", 403)
        if any(origin.lower() not in self.origins for origin in origins):
            return PlainTextResponse("this server answers its own pages only\n", 403)
        if headers.get("sec-fetch-site", "") not in ALLOWED_SITES and scope["path"] != "/":
            return PlainTextResponse("this server answers its own pages only\n", 403)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("this server only shows\n", 405, {"Allow": "GET, HEAD"})
        return None


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sending

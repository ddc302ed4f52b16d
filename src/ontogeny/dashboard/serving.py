"""Serving on this machine only, until interrupted."""

import contextlib
import logging
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from ontogeny.dashboard.cache import cache_home, prune
from ontogeny.dashboard.server import Server
from ontogeny.errors import OntogenyError

HOST, PORT = "127.0.0.1", 8321
#: Seconds that open connections have when the server is to stop.
GRACE = 2
BACKLOG = 128


class PortTaken(OntogenyError):
    """Another process listens there."""


def bound(port: int | None) -> socket.socket:
    """A listening socket on loopback: the given port, or the first free one from the usual up."""
    candidates = range(PORT, PORT + 50) if port is None else [port]
    for candidate in candidates:
        found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((HOST, candidate))
            found.listen(BACKLOG)  # a browser may come before the server is ready: it waits
        except OSError:
            found.close()
            continue
        return found
    raise PortTaken(
        f"port {candidates[0]} of {HOST} cannot be used",
        received="another process listens there, or it is not allowed",
        remedy="give another with --port, or 0 for any free one",
    )


def serve(path: Path, port: int | None = None, started: Callable[[str], None] = lambda url: None) -> None:
    """Serve a folder until SIGINT or SIGTERM; `started` hears the address. Nothing is written into a run."""
    server = Server(path)
    with contextlib.suppress(OSError):
        prune(cache_home())
    with bound(port) as listening:
        number = listening.getsockname()[1]
        config = uvicorn.Config(
            server.app(number),
            log_level=logging.WARNING,
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="off",
            timeout_graceful_shutdown=GRACE,
        )
        running = _Running(config, server)
        threading.Thread(target=server.warm, name="warm", daemon=True).start()
        started(f"http://{HOST}:{number}/")
        running.run(sockets=[listening])


class _Running(uvicorn.Server):
    """Tells the open event streams that the server stops, so that none of them holds it up."""

    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._server = server

    def handle_exit(self, sig: int, frame: object) -> None:
        self._server.close()
        super().handle_exit(sig, frame)  # pyright: ignore[reportArgumentType]


def browse(url: str) -> None:
    """Open the page in a browser, if there is one."""
    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(url)

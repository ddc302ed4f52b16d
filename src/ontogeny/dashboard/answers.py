"""From what a handler returns, or raises, to an answer: strict JSON, or a frame; never a traceback."""

import logging
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ontogeny.dashboard.frames import strict
from ontogeny.dashboard.shelf import NoSuchRun
from ontogeny.errors import OntogenyError

BINARY = "application/octet-stream"
LOG = logging.getLogger("ontogeny.dashboard")
Handler = Callable[[Request], Any]


def answering(handler: Handler) -> Callable[[Request], Response]:
    """The handler as an endpoint, run in a thread of its own: bytes become a frame, all else JSON."""

    def endpoint(request: Request) -> Response:
        try:
            return answer(handler(request))
        except NoSuchRun as error:
            return refusal(error, 404)
        except OntogenyError as error:
            return refusal(error, 400)
        except Exception as error:  # a fault of ours, or a disk that fails: the server goes on
            LOG.exception("%s failed", request.url.path)
            return answer({"error": f"the server failed: {type(error).__name__}", "allowed": None}, 500)

    return endpoint


def answer(found: Any, status: int = 200) -> Response:
    if isinstance(found, Response):
        return found
    if isinstance(found, bytes):
        return Response(found, status, media_type=BINARY)
    return Response(strict(found), status, media_type="application/json")


def refusal(error: OntogenyError, status: int) -> Response:
    """What was wrong in one line, and what is allowed."""
    said = {"error": error.in_one_line().replace("\n", " "), "allowed": error.allowed}
    return answer(said, status)

"""Signals that ask a run to stop: noted at once, obeyed at the next step boundary."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopRequest:
    """Which signal came, if any. A second interrupt does not wait: `hurry` is called, and it is raised."""

    def __init__(self, hurry: Callable[[], None]) -> None:
        self.signal: int | None = None
        self._hurry = hurry
        self._before: dict[int, Any] = {}

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Set the flag, and hand on to a handler that somebody had installed before."""
        if self.signal is not None and number == signal.SIGINT:
            self._hurry()
            raise KeyboardInterrupt
        self.signal = number
        before = self._before.get(number)
        if callable(before) and before is not signal.default_int_handler:
            before(number, frame)


@contextmanager
def stop_requests(hurry: Callable[[], None] = lambda: None) -> Iterator[StopRequest]:
    """Within the block SIGTERM and SIGINT only set a flag; the former handlers are put back after it.

    `hurry` is called, from the handler, when an interrupt follows another signal.
    In threads other than the main one nothing is installed, as Python allows it nowhere else.
    """
    request = StopRequest(hurry)
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    request._before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        for number in SIGNALS:
            signal.signal(number, request.handle)
        yield request
    finally:
        for number, before in request._before.items():
            signal.signal(number, before if before is not None else signal.SIG_DFL)

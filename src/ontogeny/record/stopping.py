"""Signals that ask a run to stop: noted at once, obeyed at the next step boundary."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopRequest:
    """Which signal came, if any. A second interrupt does not wait."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Set the flag, and hand on to a handler that somebody had installed before."""
        if self.signal is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.signal = number
        before = self._before.get(number)
        if callable(before) and before is not signal.default_int_handler:
            before(number, frame)


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Within the block SIGTERM and SIGINT only set a flag; the former handlers are put back after it.

    In threads other than the main one nothing is installed, as Python allows it nowhere else.
    """
    request = StopRequest()
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

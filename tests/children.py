"""Forked processes that do one thing, and are not waited for without end."""

import os
import signal
import time
from collections.abc import Callable

import torch


def child(work: Callable[[], object]) -> int:
    """Fork a process that does the work and exits with 0, or with 1 if it raises."""
    number = os.fork()
    if number == 0:
        code = 1
        try:
            torch.set_num_threads(1)
            work()
            code = 0
        finally:
            os._exit(code)
    return number


def ended(number: int, seconds: float = 10) -> int:
    """The exit code of a child; it fails the test, and ends the child, after the given seconds."""
    until = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(number, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)
            raise AssertionError("a worker hangs")
        time.sleep(0.002)

"""A dashboard over a folder of the test, in this process."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dashboard_runs import Client
from ontogeny.dashboard.server import Server


@pytest.fixture
def serving(tmp_path_factory) -> Iterator[Callable[[Path], Client]]:
    """A server over a folder, its cache elsewhere."""
    opened: list[Server] = []
    cache = tmp_path_factory.mktemp("cache")

    def start(path: Path) -> Client:
        opened.append(Server(path, cache))
        return Client(opened[-1])

    yield start
    for server in opened:
        server.close()

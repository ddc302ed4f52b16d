"""`ontogeny dashboard`: a local page over a folder of runs."""

import contextlib
import os
from pathlib import Path

from rich.console import Console

from ontogeny.dashboard.serving import browse, serve

console = Console(highlight=False)
#: A training on the same cores comes first.
NICENESS = 10


def show_dashboard(path: Path, port: int | None, browser: bool) -> None:
    """Serve until Ctrl-C; the address goes to the terminal."""

    def started(url: str) -> None:
        console.print(f"{path}: {url}  (Ctrl-C stops it; nothing is written into a run)", soft_wrap=True)
        if browser:
            browse(url)

    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with contextlib.suppress(KeyboardInterrupt):
        serve(path, port, started)

"""Runs written by hand, and a client of a dashboard over them."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from ontogeny.dashboard.frames import read_frame
from ontogeny.dashboard.server import Server
from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import JournalWriter
from ontogeny.store.run import Run

PORT = 8321
Records = Sequence[tuple[int, Mapping[str, Any]]]


def attempt(run: Run, number: int, records: Records, outcome: str | None = "finished", compact: bool = True):
    """One attempt's journal; without an outcome it is left as a killed writer leaves it."""
    path = run.path / "journal" / f"{number:03d}.journal"
    writer = JournalWriter(path)
    if records:
        writer.note("begin", step=records[0][0] - 1)
    for step, values in records:
        writer.append(step, values)
    if outcome is not None:
        writer.note("end", outcome=outcome)
    writer.close()
    if compact and outcome is not None:
        compact_journal(path)
    return path


def recipe(seed: int = 0, **more: Any) -> dict[str, Any]:
    return {"title": "t", "optimizer": {"lr": 0.1, **more}, "training": {"seed": seed, "steps": 9}}


def made(home: Path, name: str, *attempts: Records, **identity: Any) -> Run:
    """A finished run of the given attempts."""
    run = Run.create(home / name, {"recipe": recipe(), "title": name, **identity})
    for number, records in enumerate(attempts):
        attempt(run, number, records)
    return run


def losses(values: Sequence[float], first: int = 1) -> Records:
    return [(first + index, {"loss": float(value)}) for index, value in enumerate(values)]


class Client:
    """Asks a server in this process as a browser on this machine would."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.http = TestClient(server.app(PORT), base_url=f"http://127.0.0.1:{PORT}")

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        """The answer's body as JSON, strictly read, or the frame it is."""
        query = {{"first": "from", "last": "to"}.get(name, name): value for name, value in query.items()}
        answer = self.http.get(path, params=query)
        assert answer.status_code == status, answer.text
        if answer.headers["content-type"] == "application/octet-stream":
            return framed(answer.content)
        return json.loads(answer.content, parse_constant=_refuse)

    @property
    def ids(self) -> dict[str, str]:
        return {run["name"]: run["id"] for run in self.get("/api/collection", size=500)["runs"]}


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def framed(data: bytes) -> tuple[dict[str, Any], list[dict[str, np.ndarray]]]:
    """Header, and the columns by name of every series."""
    header, columns = read_frame(data)
    found: dict[int, dict[str, np.ndarray]] = {}
    for entry, values in zip(header["layout"], columns, strict=True):
        found.setdefault(entry.get("series", 0), {})[entry["name"]] = values
    return header, [found[index] for index in sorted(found)]


def state_of(home: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file below a folder, with its time, size and content: what a reader must leave as it is."""
    found = {}
    for path in sorted(home.rglob("*")):
        if path.is_file():
            state = path.stat()
            found[os.fsdecode(path.relative_to(home))] = (state.st_mtime_ns, state.st_size, path.read_bytes())
    return found

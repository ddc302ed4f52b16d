"""How long the dashboard's server takes until there is something to see.

Claims, each over a server with an empty cache, modules imported, files cached by the system:
  - a run of 10^6 steps with 20 metrics: the first panel (the table of runs, then one metric in 600 smoothed
    buckets) takes at most 2 s, whether the journal is still framed (the run is live, or was killed) or was
    compacted when the run ended; any other metric, and any zoom, then takes at most 0.3 s;
  - a run with 10,000 metric names: its first page (table, run, a hundred names with their last values) takes
    at most 2 s;
  - 2,000 runs: the first page of the table takes at most 2 s, and every later one at most 0.3 s.

Beside them, without a bound: floors. Of the long run, reading that one metric from its journal with the
library and nothing else; of 2,000 runs, `json.loads` of every run.json. Best of three, wall
time; processor time is told beside it, since a busy machine stretches the first and not the second.
`--quick` makes everything ten times smaller and claims nothing.

OMP_NUM_THREADS=1 python benchmarks/dashboard_server.py [--quick]
"""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from starlette.testclient import TestClient

from claims import Claim, conclude
from collection import make_runs
from ontogeny.dashboard.measured import notes
from ontogeny.dashboard.server import Server
from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import JournalWriter, read_journal
from ontogeny.store.run import Run

STEPS, METRICS, NAMES, RUNS = 1_000_000, 20, 10_000, 2000
COLD, WARM = 2.0, 0.3
PORT = 8321


class Opened:
    """A new server with a cache of its own."""

    def __init__(self, home: Path, cache: Path) -> None:
        self.server = Server(home, cache)
        self.http = TestClient(self.server.app(PORT), base_url=f"http://127.0.0.1:{PORT}")

    def get(self, path: str, **query: Any) -> Any:
        answer = self.http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json() if "json" in answer.headers["content-type"] else answer.content

    def first_run(self) -> str:
        return self.get("/api/collection")["runs"][0]["id"]


def panel(opened: Opened, run: str, metric: str, **query: Any) -> None:
    found = opened.get("/api/series", runs=run, metric=metric, most=600, smooth=0.1, **query)
    assert len(found) > 1000


class Took(NamedTuple):
    """Seconds on the wall and of the processor."""

    wall: float
    processor: float

    @property
    def note(self) -> str:
        return f"{self.processor:.2f} s of processor time"


def best(work: Callable[[], Took]) -> Took:
    """The shortest of three; each says how long it took."""
    return min(work() for _ in range(3))


def timed(work: Callable[[], Any]) -> Took:
    started, spent = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - started, time.process_time() - spent)


def long_run(home: Path, steps: int) -> Run:
    run = Run.create(home / "long", {"title": "long"})
    rng = np.random.default_rng(0)
    with JournalWriter(run.path / "journal" / "000.journal") as writer:
        for step in range(1, steps + 1):
            writer.append(
                step, {f"m{i}": value for i, value in enumerate(rng.standard_normal(METRICS).tolist())}
            )
    return run


def many_names(home: Path, names: int) -> Run:
    run = Run.create(home / "names", {"title": "names"})
    values = {f"layer{i // 100}/metric{i}": float(i) for i in range(names)}
    with JournalWriter(run.path / "journal" / "000.journal") as writer:
        for step in range(1, 101):
            writer.append(step, values)
    return run


def fresh(home: Path) -> Opened:
    return Opened(home, Path(tempfile.mkdtemp(dir=home.parent)))


def first_panel(home: Path) -> Took:
    def work() -> None:
        opened = fresh(home)
        panel(opened, opened.first_run(), "m3")

    return timed(work)


def later_panels(home: Path) -> Took:
    """The slowest of: another metric, the same again, a zoom in, a zoom far in, tokens as they come."""
    opened = fresh(home)
    run = opened.first_run()
    panel(opened, run, "m3")
    return max(
        timed(lambda: panel(opened, run, "m4")),
        timed(lambda: panel(opened, run, "m3")),
        timed(lambda: panel(opened, run, "m3", scale="step")),
        timed(lambda: panel(opened, run, "m3", **{"from": 1000, "to": 90_000})),
        timed(lambda: panel(opened, run, "m3", x="time")),
    )


def first_page(home: Path) -> Took:
    def work() -> None:
        opened = fresh(home)
        run = opened.first_run()
        opened.get(f"/api/runs/{run}")
        assert len(opened.get(f"/api/runs/{run}/metrics", size=100)["names"]) == 100

    return timed(work)


def of_long(base: Path, steps: int, claim: Callable[..., Claim]) -> list[Claim]:
    home = base / "long run"
    journal = long_run(home, steps).path / "journal" / "000.journal"
    found = []
    for form in ("framed", "compacted"):
        said = f"{steps:,} steps x {METRICS} metrics, {form}"
        found += [
            claim(
                f"floor: one metric of {said}", best(lambda: timed(lambda: read_journal(journal, ("m3",))))
            ),
            claim(f"first panel of {said}", best(lambda: first_panel(home)), COLD),
            claim(f"slowest later panel of {said}", best(lambda: later_panels(home)), WARM),
        ]
        if form == "framed":
            compact_journal(journal)
    return found


def of_many(home: Path, count: int, claim: Callable[..., Claim]) -> list[Claim]:
    home.mkdir()
    make_runs(home, count)
    opened = fresh(home)
    opened.first_run()
    manifests = lambda: [json.loads(path.read_bytes()) for path in home.glob("*/run.json")]
    later = lambda: opened.get("/api/collection", page=3, q="0")
    return [
        claim(f"floor: json.loads of {count:,} run.json", best(lambda: timed(manifests))),
        claim(f"first page of {count:,} runs", best(lambda: timed(lambda: fresh(home).first_run())), COLD),
        claim(f"a later page of {count:,} runs, searched", best(lambda: timed(later)), WARM),
    ]


def measure(quick: bool) -> list[Claim]:
    torch.set_num_threads(1)
    notes()
    scale = 10 if quick else 1

    def claim(what: str, took: Took, most: float | None = None) -> Claim:
        return Claim(what, took.wall, "s", None if quick else most, took.note)

    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        found = of_long(base, STEPS // scale, claim)
        many_names(base / "names", NAMES // scale)
        page = best(lambda: first_page(base / "names"))
        found.append(claim(f"first page of {NAMES // scale:,} metric names", page, COLD))
        found += of_many(base / "runs", RUNS // scale, claim)
    return found


if __name__ == "__main__":
    conclude(__doc__, measure)

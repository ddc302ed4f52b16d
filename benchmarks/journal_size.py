"""What a million steps of telemetry take: disk, memory, time to write and to read.

Claims, for 10^6 steps × 20 metrics (10^5 with --quick) that look like training (a noisy falling loss, norms,
a schedule, counters; all 8-byte values, bit for bit):
  - at most 200 MB on disk, both as appended and after compaction (scaled down with --quick);
  - at most 10 bytes a value after compaction;
  - at most 50 MB more resident memory while recording than before;
  - the median record takes at most 50 µs.

Beside it: the floor, the same numbers as raw float64 by numpy, and JSON lines, the usual way. Times are CPU
seconds (`process_time`; `thread_time` for one record). Memory is by how much the high-water mark of a process
that does nothing but record rises after its first 10^4 records.

OMP_NUM_THREADS=1 python benchmarks/journal_size.py [--quick]
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from claims import Claim, conclude
from ontogeny.store.compaction import compact_journal
from ontogeny.store.journal import JournalWriter, read_journal

METRICS = 20
BLOCK = 10_000
NAMES = ("loss", "tokens", "learning_rate", *(f"norm/{k}" for k in range(METRICS - 3)))


def blocks(steps: int) -> Iterator[list[dict[str, float | int]]]:
    """Records in blocks, so that the data itself takes no memory worth counting."""
    rng = np.random.default_rng(0)
    for start in range(0, steps, BLOCK):
        step = np.arange(start, min(start + BLOCK, steps))
        columns: list[list[Any]] = [
            (6 * (step + 10.0) ** -0.1 + 0.05 * rng.normal(size=len(step))).tolist(),
            (1024 * (step + 1)).tolist(),
            (3e-3 * 0.5 * (1 + np.cos(np.pi * step / steps))).tolist(),
            *np.exp(0.3 * rng.normal(size=(METRICS - 3, len(step)))).tolist(),
        ]
        yield [dict(zip(NAMES, row, strict=True)) for row in zip(*columns, strict=True)]


def record(path: Path, steps: int) -> None:
    """In a fresh process: record everything, and say what a record took and how much memory grew."""
    seconds: list[float] = []
    step, before = 0, 0
    with JournalWriter(path) as writer:
        for number, block in enumerate(blocks(steps)):
            if number == 1:  # imports, buffers and one block of the data are there now
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            marks = [time.thread_time()]
            for values in block:
                writer.append(step, values)
                marks.append(time.thread_time())
                step += 1
            seconds.append(statistics.median(np.diff(marks).tolist()))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"record": statistics.median(seconds), "grown": grown / 1024}))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    found = call()
    return time.process_time() - started, found


def read_all(path: Path) -> int:
    journal = read_journal(path)
    return sum(len(journal.column(name)[1]) for name in journal.names)


def as_json_lines(path: Path, steps: int) -> None:
    step = 0
    with path.open("w") as file:
        for block in blocks(steps):
            for values in block:
                file.write(json.dumps({"step": step, **values}) + "\n")
                step += 1


def as_raw_floats(path: Path, steps: int) -> None:
    with path.open("wb") as file:
        for block in blocks(steps):
            file.write(np.array([list(values.values()) for values in block], dtype="<f8").tobytes())


def peers(folder: Path, steps: int) -> list[Claim]:
    raw, lines = folder / "raw.f8", folder / "lines.jsonl"
    making, _ = timed(lambda: sum(len(block) for block in blocks(steps)))
    raw_write, _ = timed(lambda: as_raw_floats(raw, steps))
    raw_read, _ = timed(lambda: np.fromfile(raw, "<f8").reshape(-1, METRICS).sum())
    json_write, _ = timed(lambda: as_json_lines(lines, steps))
    json_read, _ = timed(lambda: [json.loads(line)["loss"] for line in lines.open()])
    return [
        Claim("raw float64 (floor): size", raw.stat().st_size / 1e6, "MB"),
        Claim("raw float64 (floor): write", 1e6 * (raw_write - making) / steps, "µs/record"),
        Claim("raw float64 (floor): read", raw_read, "s CPU"),
        Claim("JSON lines: size", lines.stat().st_size / 1e6, "MB"),
        Claim("JSON lines: write", 1e6 * (json_write - making) / steps, "µs/record"),
        Claim("JSON lines: read one metric", json_read, "s CPU"),
    ]


def measure(quick: bool) -> list[Claim]:
    steps = 100_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "000.journal"
        command = [sys.executable, __file__, "--child", str(path), str(steps)]
        child = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        framed = path.stat().st_size
        read, values = timed(lambda: read_all(path))
        assert values == steps * METRICS, "a journal that lost values must not be praised for its size"
        compaction, compacted = timed(lambda: compact_journal(path))
        size = compacted.stat().st_size
        read_again, values = timed(lambda: read_all(path))
        assert values == steps * METRICS, "a compaction that lost values must not be praised for its size"
        one, _ = timed(lambda: read_journal(path, ["loss"]).column("loss"))
        most = 200 * steps / 1_000_000
        return [
            Claim("journal as appended", framed / 1e6, "MB", most, f"{steps:,} × {METRICS}"),
            Claim("journal compacted", size / 1e6, "MB", most),
            Claim("journal compacted", size / values, "bytes/value", 10),
            Claim("recording: resident memory grows by", child["grown"], "MiB", 50),
            Claim("recording: the median record", 1e6 * child["record"], "µs CPU", 50),
            Claim("read all metrics as appended", read, "s CPU"),
            Claim("compact it, reading it back", compaction, "s CPU"),
            Claim("read all metrics compacted", read_again, "s CPU"),
            Claim("read one metric compacted", one, "s CPU"),
            *peers(Path(name), steps),
        ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        record(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        conclude(__doc__, measure)

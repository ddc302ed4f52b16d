"""Measure: every part at every checkpoint of a series, one fused pass a stimulus, nothing twice."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ontogeny.measure.plan import Price, Request, Session, price
from ontogeny.measure.workers import measure_steps
from ontogeny.store.arrays import compact_arrays
from ontogeny.store.lock import held
from ontogeny.store.rows import compact_rows

__all__ = ["Price", "Request", "Session", "explain", "measure"]


def measure(
    series: Path | str,
    parts: Sequence[str] = (),
    *,
    home: Path | str | None = None,
    text: Path | str | None = None,
    workers: int = 1,
    begin: Callable[[list[int]], None] = lambda steps: None,
    done: Callable[[int], None] = lambda step: None,
) -> int:
    """Measure what is missing; returns how many checkpoints had something missing.

    series   a run's folder, or a folder of checkpoints that `transformers` can load
    parts    names; none means every instrument and comparison of the catalogue
    home     where the rows go (default: the run, or `ontogeny/` in a foreign folder)
    text     natural text for a foreign series, tokenised by its own tokenizer
    workers  processes, one thread each

    RunHeld if another process measures the same series.
    """
    request = Request(Path(series), Path(home) if home else None, tuple(parts), Path(text) if text else None)
    session = Session(request)
    session.series.home.mkdir(parents=True, exist_ok=True)
    with held(session.series.home, "measuring", "measured", ("rows", "arrays", "fits")):
        steps = [checkpoint.step for checkpoint in session.todo()]
        begin(steps)
        measure_steps(session, steps, workers, done)
        compact_rows(session.series.home)
        compact_arrays(session.series.home)
    return len(steps)


def explain(series: Path | str, parts: Sequence[str] = (), *, text: Path | str | None = None) -> Price:
    """What `measure` would do and cost, measured on one checkpoint."""
    return price(Session(Request(Path(series), None, tuple(parts), Path(text) if text else None)))

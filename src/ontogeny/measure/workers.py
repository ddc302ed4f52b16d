"""Measuring in several processes, one torch thread each; every finished checkpoint is a file at once."""

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import torch

from ontogeny.measure.checkpoint import Measured, Unit, gather, measure_checkpoint
from ontogeny.measure.found import Found
from ontogeny.measure.plan import Request, Session
from ontogeny.record.environment import environment
from ontogeny.store.arrays import write_arrays
from ontogeny.store.fits import write_fit
from ontogeny.store.rows import measured_keys, write_rows

#: One session a process, opened when its first checkpoint is measured.
_sessions: dict[Request, tuple[Session, dict[str, Found]]] = {}


def measure_step(request: Request, step: int) -> int:
    """Measure what is missing of one checkpoint and write it; returns how many rows there were."""
    if request not in _sessions:
        _sessions.clear()
        _sessions[request] = (Session(request), {})
    session, references = _sessions[request]
    checkpoint = session.series.at(step)
    units = session.missing(checkpoint, measured_keys(session.series.home))
    if not units:
        return 0

    def reference(compared: list[Unit]) -> Found:
        which = compared[0].part.options["reference"]
        if which not in references:
            subject = session.load(session.reference(which))
            references[which] = gather(subject, compared, request.batch)
            session.load(checkpoint)
        return references[which]

    measured = measure_checkpoint(session.load(checkpoint), units, reference, request.batch)
    _write(session, step, measured)
    return len(measured.rows)


def _write(session: Session, step: int, measured: Measured) -> None:
    series = session.series
    checkpoint = series.at(step)
    address = {"run": series.id, "attempt": 0, "step": step, "checkpoint": checkpoint.hash}
    references = {unit.part.name: session.reference_of(unit) for unit in session.units}
    rows = [{**address, "reference": references[row["part"]], **row} for row in measured.rows]
    for key, artefact in measured.artefacts.items():
        write_fit(series.home, f"{step:06d}-{key}", artefact)
    write_arrays(series.home, measured.arrays)
    write_rows(series.home, f"{step:06d}-{os.getpid()}-{os.urandom(3).hex()}", rows, environment())


def _one_thread() -> None:
    torch.set_num_threads(1)


def measure_steps(
    request: Request, steps: list[int], workers: int, done: Callable[[int], None] = lambda step: None
) -> None:
    """Measure checkpoints in `workers` processes; `done(step)` is called as each is finished.

    Interrupting it loses at most the checkpoints in flight. A worker's error ends the rest and is raised.
    """
    if workers <= 1 or len(steps) < 2:
        for step in steps:
            measure_step(request, step)
            done(step)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_one_thread) as pool:
        futures = {pool.submit(measure_step, request, step): step for step in steps}
        try:
            for future in as_completed(futures):
                future.result()
                done(futures[future])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise

"""Measuring in several processes, one torch thread each; every finished checkpoint is a file at once."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context

import torch

from ontogeny.errors import OntogenyError
from ontogeny.measure.checkpoint import Measured, Unit, gather, measure_checkpoint
from ontogeny.measure.found import Found
from ontogeny.measure.plan import Request, Session
from ontogeny.record.environment import environment
from ontogeny.store.arrays import write_arrays
from ontogeny.store.fits import write_fit
from ontogeny.store.rows import measured_keys, write_rows
from ontogeny.store.series import SeriesCheckpoint
from ontogeny.vocabulary import Reading, Status, undefined


class _Worker:
    """A session, and the evidence of checkpoints that others are compared with."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._references: dict[tuple[str, str], tuple[tuple[str, ...], Found]] = {}

    def measure(self, checkpoint: SeriesCheckpoint) -> int:
        """Measure what is missing of one checkpoint and write it; returns how many rows there were."""
        session = self.session
        units = session.missing(checkpoint, measured_keys(session.series.home))
        if not units:
            return 0
        measured = measure_checkpoint(
            session.load(checkpoint),
            units,
            lambda compared: self._reference(compared, checkpoint),
            session.request.batch,
        )
        self._write(checkpoint, units, measured)
        return len(measured.rows)

    def _reference(self, compared: list[Unit], checkpoint: SeriesCheckpoint) -> Found | Reading:
        """Evidence of the checkpoint that these comparisons, all on one stimulus, refer to."""
        referred = self.session.reference(compared[0], checkpoint)
        if referred is None:
            return undefined(Status.NO_TARGET, f"no checkpoint comes before step {checkpoint.step}")
        slot = (compared[0].part.options["reference"], compared[0].stimulus_hash)
        identity = (referred.hash, *(unit.part.name for unit in compared))
        if slot not in self._references or self._references[slot][0] != identity:
            subject = self.session.load(referred)
            self._references[slot] = identity, gather(subject, compared, self.session.request.batch)
            self.session.load(checkpoint)
        return self._references[slot][1]

    def _write(self, checkpoint: SeriesCheckpoint, units: list[Unit], measured: Measured) -> None:
        """Artefacts and arrays first: a row must not point at what is not there."""
        home, step = self.session.series.home, checkpoint.step
        addresses = {unit.part.name: self.session.address(unit, checkpoint) for unit in units}
        rows = [{**addresses[row["part"]], **row} for row in measured.rows]
        for key, artefact in measured.artefacts.items():
            write_fit(home, f"{step:06d}-{key}", artefact)
        write_arrays(home, measured.arrays)
        write_rows(home, f"{step:06d}-{time.time_ns():020d}-{os.getpid()}", rows, environment())


#: The worker of a pool's process; the pool serves one request.
_workers: list[_Worker] = []


def _one_thread() -> None:
    torch.set_num_threads(1)


def _measure_step(request: Request, step: int) -> int:
    if not _workers:
        _workers.append(_Worker(Session(request)))
    worker = _workers[0]
    return worker.measure(worker.session.series.at(step))


@contextmanager
def _in_one_thread() -> Iterator[None]:
    """A worker's setting for this process: sums over several threads are rounded otherwise."""
    before = torch.get_num_threads()
    _one_thread()
    try:
        yield
    finally:
        torch.set_num_threads(before)


def measure_steps(
    session: Session, steps: list[int], workers: int, done: Callable[[int], None] = lambda step: None
) -> None:
    """Measure checkpoints in `workers` processes; `done(step)` is called as each is finished.

    Interrupting it loses at most the checkpoints in flight. A worker's error ends the rest and is raised;
    OntogenyError if one died without a word.
    """
    if workers <= 1 or len(steps) < 2:
        worker = _Worker(session)
        with _in_one_thread():
            for step in steps:
                worker.measure(session.series.at(step))
                done(step)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_one_thread) as pool:
        futures = {pool.submit(_measure_step, session.request, step): step for step in steps}
        try:
            for future in as_completed(futures):
                future.result()
                done(futures[future])
        except BrokenProcessPool as error:
            raise OntogenyError(
                "a measuring process died",
                received=str(error),
                remedy="what was finished is kept: run the same again, with fewer workers if memory ran out",
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise

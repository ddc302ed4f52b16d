"""Measuring in several processes, one torch thread each; every finished checkpoint is a file at once."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import islice
from multiprocessing import get_context
from queue import SimpleQueue
from types import NoneType
from typing import Any, Self

import torch

from ontogeny.errors import OntogenyError
from ontogeny.measure.budget import unit_key
from ontogeny.measure.checkpoint import Measured, Unit, add_reading, gather, measure_checkpoint
from ontogeny.measure.compared import References
from ontogeny.measure.found import Found
from ontogeny.measure.outcome import NotLoaded, Outcome
from ontogeny.measure.plan import Request, Session
from ontogeny.measure.resident import UNREADABLE
from ontogeny.measure.taken_steps import add_steps
from ontogeny.record.environment import environment
from ontogeny.series import SeriesCheckpoint
from ontogeny.store.arrays import write_arrays
from ontogeny.store.fits import write_fits
from ontogeny.store.rows import measured_keys, write_rows
from ontogeny.subject import Subject
from ontogeny.vocabulary import Place, Reading, Status, undefined


class _Worker:
    """A session, and the evidence of checkpoints that others are compared with."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._references: dict[tuple[Any, str], tuple[tuple[str, ...], dict[str, Found]]] = {}

    def measure(self, checkpoint: SeriesCheckpoint) -> int:
        """Measure what is missing of one checkpoint and write it; returns how many rows there were.

        NotLoaded if it cannot be loaded.
        """
        session = self.session
        done = measured_keys(session.series.home)
        if not session.missing(checkpoint, done):
            return 0
        subject = self._load(checkpoint)
        units = session.missing(checkpoint, done)  # those for a model of this size
        if not units:
            return 0
        dear = session.dear
        wanted = [unit for unit in units if unit_key(unit) not in dear]
        measured = measure_checkpoint(
            subject,
            [unit for unit in wanted if not unit.ahead],
            lambda compared: self._reference(compared, checkpoint),
            session.request.batch,
            session.facts,
        )
        add_steps(measured, [unit for unit in wanted if unit.ahead], session.series.run, checkpoint.step)
        for unit in units:
            if reason := dear.get(unit_key(unit)):
                add_reading(measured, unit, "", Place(), undefined(Status.OVER_BUDGET, reason))
        if measured.rows:
            self._write(checkpoint, units, measured)
        return len(measured.rows)

    def _load(self, checkpoint: SeriesCheckpoint) -> Subject:
        try:
            return self.session.load(checkpoint)
        except UNREADABLE as error:
            raise NotLoaded(checkpoint.step, error) from error

    def _reference(self, compared: list[Unit], checkpoint: SeriesCheckpoint) -> References:
        """Evidence of the checkpoints that these comparisons, all on one stimulus, refer to.

        It is kept for the next checkpoint as far as that refers to the same ones.
        """
        session, size = self.session, self.session.size
        referred = session.references(compared[0], checkpoint)
        hashes = {name: session.hash_of(other) for name, other in referred.items() if other is not None}
        slot = (compared[0].part.options["reference"], compared[0].stimulus_hash)
        parts = tuple(unit.part.name for unit in compared)
        known, present = self._references.get(slot, (parts, {}))
        held = {key: found for key, found in present.items() if known == parts and key in hashes.values()}
        found: dict[str, Found | Reading] = {}
        try:
            for name, other in referred.items():
                if other is None:
                    found[name] = undefined(Status.NO_TARGET, self._lacks(checkpoint, name))
                elif hashes[name] not in held:
                    found[name] = self._evidence_of(other, compared, size)
                    if isinstance(there := found[name], Found):
                        held[hashes[name]] = there
                else:
                    found[name] = held[hashes[name]]
        finally:
            self._load(checkpoint)
        self._references[slot] = parts, held
        return next(iter(found.values())) if isinstance(slot[0], str) else found

    def _lacks(self, checkpoint: SeriesCheckpoint, name: str) -> str:
        if len(self.session.series.checkpoints) == 1:
            return "the only checkpoint of a series has nothing to be compared with"
        return f"step {checkpoint.step} has no checkpoint '{name}' to refer to"

    def _evidence_of(
        self, referred: SeriesCheckpoint, compared: list[Unit], size: tuple[int, int]
    ) -> Found | Reading:
        try:
            subject = self._load(referred)
        except NotLoaded as error:
            return undefined(Status.FAILED, f"step {referred.step} cannot be loaded: {error.cause}")
        if self.session.size != size:
            return undefined(Status.NO_TARGET, f"step {referred.step} is a model of another size")
        found = gather(subject, compared, self.session.request.batch, self.session.facts)
        return found.only({(need, unit.at) for unit in compared for need in unit.part.needs})

    def _write(self, checkpoint: SeriesCheckpoint, units: list[Unit], measured: Measured) -> None:
        """Artefacts and arrays first: a row must not point at what is not there."""
        home, step = self.session.series.home, checkpoint.step
        # Rows between layers say themselves what they refer to; the other units of a part are alike in that.
        first = sorted(units, key=lambda unit: not unit.layers)
        addresses = {unit.part.name: self.session.address(unit, checkpoint) for unit in first}
        rows = [{**addresses[row["part"]], **row} for row in measured.rows]
        for row in rows:
            row["fit"] = " ".join(f"{step:06d}-{key}" for key in row.get("fit", "").split())
        write_fits(home, {f"{step:06d}-{key}": artefact for key, artefact in measured.artefacts.items()})
        write_arrays(home, measured.arrays)
        conditions = {**environment(), **self.session.subject.conditions()}
        write_rows(home, f"{step:06d}-{time.time_ns():020d}-{os.getpid()}", rows, conditions)


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


def _taken(waiting: deque[int]) -> Iterator[int]:
    """Steps from the front, one at a time, until other threads have left none."""
    while True:
        try:
            yield waiting.popleft()
        except IndexError:
            return


class _Others:
    """Further processes that take from the steps that wait, from the first `with` to its end.

    Each is given its next step by the thread that hears of its last, so none waits for this process.
    """

    def __init__(self, request: Request, waiting: deque[int], processes: int) -> None:
        self._request, self._waiting, self._processes = request, waiting, processes
        self._given: list[int] = []
        self._ended: SimpleQueue[tuple[int, Future[int]]] = SimpleQueue()
        self._heard = 0

    def __enter__(self) -> Self:
        self._pool = ProcessPoolExecutor(
            max(1, self._processes), mp_context=get_context("spawn"), initializer=_one_thread
        )
        for _ in range(self._processes):
            self._give()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._waiting.clear()
        self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def _give(self) -> None:
        for step in islice(_taken(self._waiting), 1):
            self._given.append(step)
            future = self._pool.submit(_measure_step, self._request, step)
            future.add_done_callback(partial(self._over, step))

    def _over(self, step: int, future: Future[int]) -> None:
        if not future.cancelled() and isinstance(future.exception(), NoneType | NotLoaded):
            self._give()
        self._ended.put((step, future))

    def ended(self, wait: bool) -> Iterator[tuple[int, Future[int]]]:
        """Steps that are over, once each; with `wait`, until all that were given are."""
        while self._heard < len(self._given) and (wait or not self._ended.empty()):
            self._heard += 1
            yield self._ended.get()


def measure_steps(
    session: Session, steps: list[int], workers: int, done: Callable[[int], None] = lambda step: None
) -> Outcome:
    """Measure checkpoints in `workers` processes, this one among them; `done(step)` is called here as each
    is finished.

    Those that cannot be loaded do not keep the others from being measured.
    Interrupting it loses at most the checkpoints in flight. Any other error ends the rest and is raised;
    OntogenyError if a worker died without a word.
    """
    outcome, worker, waiting = Outcome(), _Worker(session), deque(steps)
    others = min(workers, len(steps)) - 1
    with _in_one_thread(), _Others(session.request, waiting, others) as elsewhere:
        for step in _taken(waiting):
            _note(outcome, done, step, lambda step=step: worker.measure(session.series.at(step)))
            for other, future in elsewhere.ended(wait=False):
                _note(outcome, done, other, future.result)
        for other, future in elsewhere.ended(wait=True):
            _note(outcome, done, other, future.result)
    return outcome


def _note(outcome: Outcome, done: Callable[[int], None], step: int, rows: Callable[[], int]) -> None:
    try:
        with outcome.noting():
            outcome.measured += rows() > 0
    except BrokenProcessPool as error:
        raise OntogenyError(
            "a measuring process died",
            received=str(error),
            remedy="what was finished is kept: run the same again, with fewer workers if memory ran out",
        ) from error
    done(step)

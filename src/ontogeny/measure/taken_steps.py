"""Parts that read a training step, at the checkpoints of a run: the step after each is taken once more.

Their rows stand at the step they speak of, the first one after the checkpoint (the second, for parts that
look back a step), with the checkpoint it was taken from. So a row is the number that telemetry has at the
same step, and a checkpoint costs one step or two and not all those that led to it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from ontogeny.errors import OntogenyError
from ontogeny.measure.checkpoint import TRAINING, Measured, Unit, add_reading
from ontogeny.replay import read_steps
from ontogeny.store.run import Run
from ontogeny.vocabulary import Place, Status, undefined


def add_steps(measured: Measured, units: Sequence[Unit], run: Run | None, step: int) -> None:
    """Add what these units say of the steps after a checkpoint; what cannot be taken again is a status.

    Where a run that may yet go on has not taken the step, nothing is said of it.
    """
    if run is None:
        _add_gap(measured, units, Status.NOT_OBSERVABLE, f"a checkpoint shows no gradients: {TRAINING}")
        return
    if not units:
        return
    last = _last_step(run)
    present = [unit for unit in units if step + unit.ahead <= last]
    if run.outcome == "finished":
        beyond = [unit for unit in units if unit not in present]
        _add_gap(measured, beyond, Status.NO_TARGET, f"the run ended with step {last}")
    by_call = {_call(unit): unit for unit in present}
    if not by_call:
        return
    try:
        with _threads_of(run):
            found = read_steps(run, {call: step + unit.ahead for call, unit in by_call.items()})
    except OntogenyError as error:
        reason = f"the step cannot be taken again: {error.what}: {error.received}"
        _add_gap(measured, present, Status.NOT_OBSERVABLE, reason)
        return
    for said in found:
        add_reading(measured, by_call[said.part.name], said.component, said.place, said.reading)
    silent = [unit for call, unit in by_call.items() if call not in {said.part.name for said in found}]
    _add_gap(measured, silent, Status.NO_TARGET, "the optimizer did not take this step")


def _call(unit: Unit) -> str:
    settings = unit.part.settings(**unit.parameters)
    return f"{unit.part.name}({settings})" if settings else unit.part.name


def _add_gap(measured: Measured, units: Sequence[Unit], status: Status, reason: str) -> None:
    for unit in units:
        add_reading(measured, unit, "", Place(), undefined(status, reason))


def _last_step(run: Run) -> int:
    """The last step that was trained and recorded."""
    return int(run.telemetry("model_digest")["step"].max())


@contextmanager
def _threads_of(run: Run) -> Iterator[None]:
    """As many threads as it was trained with: with others the sums are rounded otherwise."""
    before = torch.get_num_threads()
    torch.set_num_threads(run.identity.get("environment", {}).get("threads", before))
    try:
        yield
    finally:
        torch.set_num_threads(before)

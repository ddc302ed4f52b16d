"""Online instruments on a recorded step: replayed, and read as the Recorder would have read it."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ontogeny.record.online import OnlineParts, Said
from ontogeny.record.restoring import earlier_checkpoint
from ontogeny.replay.replay import at
from ontogeny.store.run import Run


def measure_step(
    run: Run | Path | str, step: int, instruments: Sequence[str], /, **loop: Any
) -> dict[str, float]:
    """What online parts read of one step of a run, by metric: the very numbers that
    `Recorder(every={part: 1})` records.

    The run is replayed from the nearest checkpoint before the step (one further back for parts that look
    back). `loop` (advance, model, optimizer, parts, batches) goes to `replay.at`, for foreign loops. A step
    that the optimizer did not take gives nothing; errors are those of `replay.at`.
    """
    return {said.metric: said.number for said in read_steps(run, dict.fromkeys(instruments, step), **loop)}


def read_steps(run: Run | Path | str, wanted: Mapping[str, int], /, **loop: Any) -> list[Said]:
    """What online parts say of recorded steps, each of its own, in one replay; else as `measure_step`."""
    run = run if isinstance(run, Run) else Run.open(run)
    online = OnlineParts({name: max(1, step) for name, step in wanted.items()})
    first = min(wanted[part.name] - (2 if part.looks_back else 1) for part in online.parts)
    clipped = _clip_coefficients(run)
    found: list[Said] = []
    with ExitStack() as watching:
        entered: list[Any] = []

        def visit(training: Any) -> None:
            counters = training.state["counters"]
            if not entered:
                entered.append(training)
                context = online.watching(training.model, training.optimizer, lambda: counters.step)
                watching.enter_context(context)
                return
            every = online.readings(counters.step, clipped.get(counters.step, 1.0))
            found.extend(said for said in every if wanted[said.part.name] == counters.step)

        at(run, max(wanted.values()), start=earlier_checkpoint(run, max(0, first)), visit=visit, **loop)
    return found


def _clip_coefficients(run: Run) -> dict[int, float]:
    """By what the gradient of each step was multiplied before the optimizer saw it, where that was told."""
    if "clip_coefficient" not in run.metrics:
        return {}
    frame = run.telemetry("clip_coefficient").dropna(subset="clip_coefficient")
    return dict(zip(map(int, frame["step"]), map(float, frame["clip_coefficient"]), strict=True))

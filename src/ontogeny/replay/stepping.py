"""Online instruments on a recorded step: replayed, and read as the Recorder would have read it."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ontogeny.record.online import OnlineParts
from ontogeny.record.restoring import earlier_checkpoint
from ontogeny.replay.replay import Replayed, at
from ontogeny.store.run import Run


def measure_step(run: Run | Path | str, step: int, parts: Sequence[str], **loop: Any) -> dict[str, float]:
    """What online parts read of one step of a run, by metric: the very numbers that
    `Recorder(every={part: 1})` records.

    The run is replayed from the nearest checkpoint before the step (one further back for parts that look
    back). `loop` goes to `replay.at`, for runs of foreign loops. A step that the optimizer did not take gives
    nothing; errors are those of `replay.at`.
    """
    run = run if isinstance(run, Run) else Run.open(run)
    online = OnlineParts(dict.fromkeys(parts, 1))
    start = earlier_checkpoint(run, max(0, step - (2 if online.looks_back else 1)))
    clipped = _clip_coefficients(run)
    found: dict[str, float] = {}
    with ExitStack() as watching:
        entered: list[Any] = []

        def visit(training: Any) -> None:
            counters = training.state["counters"]
            if not entered:
                entered.append(training)
                context = online.watching(training.model, training.optimizer, lambda: counters.step)
                watching.enter_context(context)
                return
            record, _ = online.take(counters.step, clipped.get(counters.step, 1.0))
            if counters.step == step:
                found.update(record)

        replayed: Replayed[Any] = at(run, step, start=start, visit=visit, **loop)
        assert replayed.step == step
    return found


def _clip_coefficients(run: Run) -> dict[int, float]:
    """By what the gradient of each step was multiplied before the optimizer saw it, where that was told."""
    if "clip_coefficient" not in run.metrics:
        return {}
    frame = run.telemetry("clip_coefficient").dropna(subset="clip_coefficient")
    return dict(zip(map(int, frame["step"]), map(float, frame["clip_coefficient"]), strict=True))

"""Where two runs part: the first step whose digests differ, and the tensors that differ."""

import pandas as pd

from ontogeny.compare.comparison import Columns, Gaps
from ontogeny.compare.side import Side
from ontogeny.errors import NotARun
from ontogeny.series import LocalCheckpoint, SeriesCheckpoint
from ontogeny.store.checkpoint import Checkpoint, open_checkpoint

DIGEST = "model_digest"
DIVERGENCE: Columns = {
    "run": "str",
    "first_differing_step": "Int64",
    "common_steps": "Int64",
    "first_differing_checkpoint": "Int64",
    "common_checkpoints": "Int64",
}
TENSORS: Columns = {"run": "str", "step": "Int64", "tensor": "str", "what": "str"}


def first_difference(here: Side, there: Side, gaps: Gaps) -> pd.DataFrame:
    """One row: the first common step whose model digests differ, and the first such checkpoint; null if none.

    A digest covers every parameter and buffer, so equal digests mean equal bits. `common_steps` counts what
    was held together.
    """
    digests = [_digests(side, gaps) for side in (here, there)]
    steps = sorted(digests[0].keys() & digests[1].keys())
    differing = [step for step in steps if digests[0][step] != digests[1][step]]
    checkpoints = sorted(here.steps & there.steps)
    parted = _first_differing_checkpoint(here, there)
    record = {
        "run": here.label,
        "first_differing_step": differing[0] if differing else None,
        "common_steps": len(steps),
        "first_differing_checkpoint": parted,
        "common_checkpoints": len(checkpoints),
    }
    return pd.DataFrame([record])


def _digests(side: Side, gaps: Gaps) -> dict[int, int]:
    if side.run is None or DIGEST not in side.run.metrics:
        gaps.add(side.label, "model digests", "none were recorded")
        return {}
    frame = side.run.telemetry(DIGEST)
    return dict(zip(map(int, frame["step"]), map(int, frame[DIGEST]), strict=True))


def _first_differing_checkpoint(here: Side, there: Side) -> int | None:
    for step in sorted(here.steps & there.steps):
        if here.series.at(step).hash != there.series.at(step).hash:
            return step
    return None


def differing_tensors(here: Side, there: Side, gaps: Gaps) -> pd.DataFrame:
    """Tensors whose hashes differ, or that only one has, at the first common checkpoint that differs."""
    step = _first_differing_checkpoint(here, there)
    if step is None:
        return pd.DataFrame()
    opened = [_opened(side.series.at(step)) for side in (here, there)]
    if opened[0] is None or opened[1] is None:
        gaps.add(
            here.label, "differing tensors", f"a checkpoint of step {step} has no manifest of its tensors"
        )
        return pd.DataFrame()
    entries = [checkpoint.manifest.tensors["model"] for checkpoint in opened if checkpoint is not None]
    found = []
    for name in sorted(entries[0].keys() | entries[1].keys()):
        mine, theirs = (group.get(name) for group in entries)
        if mine is None or theirs is None:
            what = f"only in {there.label if mine is None else here.label}"
        elif mine.shape != theirs.shape:
            what = f"{mine.shape}, not {theirs.shape}"
        elif mine.hash != theirs.hash:
            what = "other bits"
        else:
            continue
        found.append({"run": here.label, "step": step, "tensor": name, "what": what})
    return pd.DataFrame(found)


def _opened(checkpoint: SeriesCheckpoint) -> Checkpoint | None:
    if not isinstance(checkpoint, LocalCheckpoint):
        return None
    try:
        return open_checkpoint(checkpoint.path)
    except NotARun:
        return None

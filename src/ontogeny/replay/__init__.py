"""Replay any step of a run, and keep on disk only what cannot be replayed."""

from ontogeny.replay.keeping import materialise, thin
from ontogeny.replay.replay import Difference, Replayed, at, other_conditions
from ontogeny.replay.stepping import measure_step, read_steps

__all__ = [
    "Difference",
    "Replayed",
    "at",
    "materialise",
    "measure_step",
    "other_conditions",
    "read_steps",
    "thin",
]

"""Replay any step of a run, and keep on disk only what cannot be replayed."""

from ontogeny.replay.keeping import materialise, thin
from ontogeny.replay.replay import Difference, Replayed, at, other_conditions

__all__ = ["Difference", "Replayed", "at", "materialise", "other_conditions", "thin"]

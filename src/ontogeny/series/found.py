"""What a search for checkpoints found."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ontogeny.errors import NotARun
from ontogeny.series.checkpoint import SeriesCheckpoint

#: A rule step -> tokens; None where there is none.
Rule = Callable[[int], float | None]


@dataclass
class Found:
    """Checkpoints by step, and what somebody who reads their numbers should know."""

    by_step: dict[int, SeriesCheckpoint] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, checkpoint: SeriesCheckpoint) -> None:
        """Take one in. NotARun, with both names, if its step is taken."""
        other = self.by_step.get(checkpoint.step)
        if other is not None:
            raise NotARun(
                f"two checkpoints claim to be step {checkpoint.step}",
                received=f"{other.label}, {checkpoint.label}",
                allowed="one checkpoint a step",
                remedy="choose with a pattern which names count ('stage1-step{step}-*'), or move one",
            )
        self.by_step[checkpoint.step] = checkpoint

"""What a run will cost in time, memory and disk, told before it starts."""

import time
from dataclasses import dataclass
from pathlib import Path

from ontogeny.errors import DiskFull
from ontogeny.record.memory import step_bytes
from ontogeny.record.norms import norm_groups
from ontogeny.record.recipe import Recipe
from ontogeny.record.training import Training
from ontogeny.store.files import free_bytes

#: Bytes a value takes in a compacted journal; a little more is reckoned while it is being written.
BYTES_A_VALUE = 10
SCALARS = 16


@dataclass(frozen=True)
class Estimate:
    """Seconds, bytes in memory, and bytes of checkpoints and telemetry; every checkpoint is kept."""

    seconds_a_step: float
    steps: int
    checkpoints: int
    checkpoint_bytes: int
    telemetry_bytes: int
    memory_bytes: int

    @property
    def seconds(self) -> float:
        return self.seconds_a_step * self.steps

    @property
    def bytes(self) -> int:
        return self.checkpoints * self.checkpoint_bytes + self.telemetry_bytes


def estimate(training: Training) -> Estimate:
    """Time two steps of a throwaway twin after one whose memory is counted; sizes follow from the recipe."""
    recipe: Recipe = training.recipe
    twin = Training(recipe, training.objective)
    memory = step_bytes(twin)
    started = time.perf_counter()
    for _ in range(2):
        twin.step()
    seconds = (time.perf_counter() - started) / 2
    parameters = sum(p.numel() * p.element_size() for p in training.model.parameters())
    copies = 3 if recipe.recording.keep_optimizer else 1
    steps = recipe.training.steps
    checkpoints = len(recipe.recording.scheduled(steps).steps())
    values = SCALARS + 2 * len(norm_groups(dict(training.model.named_parameters())))
    telemetry = steps * values * BYTES_A_VALUE
    return Estimate(seconds, steps, checkpoints, copies * parameters, telemetry, memory)


def require_space(found: Estimate, path: Path) -> None:
    """DiskFull, before anything is trained, if the run cannot fit."""
    free = free_bytes(path)
    if found.bytes > free:
        raise DiskFull(
            f"this run will not fit on the disk of {path}",
            received=f"{free:,} bytes free",
            allowed=f"about {found.bytes:,} bytes: {found.checkpoints} checkpoints and telemetry",
            remedy="free space, choose another folder, or keep fewer checkpoints (recording.every)",
        )

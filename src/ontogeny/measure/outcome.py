"""What came of measuring several checkpoints: one that cannot be loaded does not keep the others from it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ontogeny.errors import ForeignCheckpoint


class NotLoaded(Exception):
    """A checkpoint that cannot be loaded, and why; the others can still be measured."""

    def __init__(self, step: int, cause: Exception) -> None:
        super().__init__(step, cause)
        self.step, self.cause = step, cause


@dataclass
class Outcome:
    """How many checkpoints were measured, and the errors of those that could not be loaded, by step."""

    measured: int = 0
    failed: dict[int, Exception] = field(default_factory=dict)

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note an error of loading, and go on."""
        try:
            yield
        except NotLoaded as error:
            self.failed[error.step] = error.cause

    def require_all(self) -> None:
        """Raise the one error there is, or one that names every checkpoint that could not be loaded."""
        failed = self.failed
        if len(failed) == 1:
            raise next(iter(failed.values()))
        if failed:
            lines = [f"step {step}: {str(failed[step]).splitlines()[0]}" for step in sorted(failed)]
            raise ForeignCheckpoint(
                f"{len(failed)} checkpoints could not be loaded",
                received="; ".join(lines),
                remedy="the others are measured; mend or remove these and measure again",
            )

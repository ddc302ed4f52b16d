"""The one model of a series that is in memory: loading another takes its place, in place where it can."""

from ontogeny.errors import OntogenyError
from ontogeny.series import Series, SeriesCheckpoint, StoredCheckpoint
from ontogeny.subject import Subject, open_subject

#: What loading one checkpoint may raise while the others are sound.
UNREADABLE = (OntogenyError, OSError, MemoryError)


class Resident:
    """At most one checkpoint's model."""

    def __init__(self) -> None:
        self._subject: Subject | None = None
        self._step: int | None = None

    @property
    def subject(self) -> Subject:
        """The model that was loaded last."""
        if self._subject is None:
            raise AssertionError("nothing is loaded")
        return self._subject

    def load(self, checkpoint: SeriesCheckpoint) -> Subject:
        """The model of a checkpoint; an error (of `open_subject`) leaves nothing in memory."""
        if self._subject is None or self._step != checkpoint.step:
            # A function makes its own model: the one before it must be gone by then.
            into = self._subject if isinstance(checkpoint, StoredCheckpoint) else None
            self._subject, self._step = None, None
            self._subject = open_subject(checkpoint, into)
            self._step = checkpoint.step
        return self._subject

    def load_any(self, series: Series) -> SeriesCheckpoint:
        """Load the last checkpoint that can be loaded; if none can, the last one's error is raised."""
        last: Exception | None = None
        for checkpoint in reversed(series.checkpoints):
            try:
                self.load(checkpoint)
            except UNREADABLE as error:
                last = last or error
            else:
                return checkpoint
        if last is None:
            raise AssertionError("a series without checkpoints")
        raise last

"""Every error a user can meet. Each says what was wrong, what was received, what is allowed, what to do."""

import difflib
from collections.abc import Iterable
from typing import Any


class OntogenyError(Exception):
    """Base of all errors raised on purpose; its text is made of the four things a reader needs."""

    def __init__(
        self, what: str, *, received: Any = None, allowed: str | None = None, remedy: str | None = None
    ) -> None:
        self.what, self.received, self.allowed, self.remedy = what, received, allowed, remedy
        super().__init__(what, received, allowed, remedy)

    def __reduce__(self) -> tuple[Any, ...]:
        # From a worker process: `args` do not fit the signature, and what was received may be anything.
        received = None if self.received is None else str(self.received)
        return _told_again, (type(self), self.what, received, self.allowed, self.remedy)

    def __str__(self) -> str:
        lines = [self.what]
        if self.received is not None:
            lines.append(f"  received: {self.received}")
        if self.allowed:
            lines.append(f"  allowed:  {self.allowed}")
        if self.remedy:
            lines.append(f"  to do:    {self.remedy}")
        return "\n".join(lines)

    def in_one_line(self) -> str:
        """The same four things as the reason of a status."""
        told = (("received", self.received), ("allowed", self.allowed), ("to do", self.remedy))
        return "; ".join([self.what, *(f"{name}: {value}" for name, value in told if value)])


def _told_again(
    kind: type[OntogenyError], what: str, received: str | None, allowed: str | None, remedy: str | None
) -> OntogenyError:
    error = kind.__new__(kind)
    OntogenyError.__init__(error, what, received=received, allowed=allowed, remedy=remedy)
    return error


class UnknownName(OntogenyError):
    """A name that nothing answers to; the nearest match and the whole list are in the message."""

    def __init__(self, noun: str, name: str, known: Iterable[str], remedy: str | None = None) -> None:
        known = sorted(known)
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else "choose one of the list"
        super().__init__(
            f"no {noun} is called {name!r}",
            allowed=", ".join(known) or "(none are registered)",
            remedy=f"{hint} {remedy}" if remedy else hint,
        )


class DuplicateName(OntogenyError):
    """Two parts of one kind want the same name."""


class BadArgument(OntogenyError):
    """An argument of a function that can mean nothing: a wrong shape, or a value outside its range."""


class BadContract(OntogenyError):
    """A part does not keep the contract of its kind; raised when it is declared, not when it is used."""


class BadRecipe(OntogenyError):
    """A recipe with a wrong key or value."""


class BadSource(OntogenyError):
    """A corpus, tokenizer or token file that cannot serve (too small, unreadable, of another hash)."""


class NotARun(OntogenyError):
    """A folder that holds no run, collection or series of checkpoints."""


class RunExists(OntogenyError):
    """The folder already holds something a new run would overwrite."""


class RunHeld(OntogenyError):
    """Another process is writing this run."""


class NotWritable(OntogenyError):
    """A folder that cannot be written: missing, read-only or not permitted."""


class DiskFull(OntogenyError):
    """No space or no quota left; what was committed before is untouched."""


class Damaged(OntogenyError):
    """Stored bytes that do not match their checksum; the file and the record are named."""


class ForeignCheckpoint(OntogenyError):
    """A checkpoint whose tensors do not belong to the model it was to be loaded into."""


class Untrusted(OntogenyError):
    """A file that could run code when opened: without leave to open it, or refused where it was tried."""


class NonfiniteLoss(OntogenyError):
    """The loss is NaN or infinite and the recipe's policy is to stop."""


class NotObservable(OntogenyError):
    """What was asked for cannot be seen on this model or stimulus."""


class NotReplayable(OntogenyError):
    """A run, or a step of it, that cannot be replayed, and why."""


class Diverged(OntogenyError):
    """A replay whose bits differ from what was recorded; the first step and tensor are named."""


class MissingExtra(OntogenyError):
    """A feature that needs an optional dependency."""


class DamageWarning(UserWarning):
    """Something stored is damaged and was left out of what was read; `ontogeny verify` tells all of it."""


class AuditWarning(UserWarning):
    """Checkpoints that are about to be measured are not what their names say; `ontogeny audit` tells more."""

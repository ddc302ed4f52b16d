"""What a comparison may be compared with."""

import re
from collections.abc import Sequence

from ontogeny.errors import BadContract

#: Names of reference checkpoints. `before` and `after` are the nearest two that lie equally far.
REFERENCES = ("final", "first", "previous", "before", "after")
_BACK = re.compile(r"previous-[1-9]\d*")


def back(count: int) -> tuple[str, ...]:
    """The last so many checkpoints before the measured one, the nearest first."""
    return tuple(f"previous-{steps}" for steps in range(1, count + 1))


def checked_references(reference: str | Sequence[str]) -> str | tuple[str, ...]:
    """One name or several, each known; BadContract otherwise."""
    names = (reference,) if isinstance(reference, str) else tuple(reference)
    wrong = [name for name in names if name not in REFERENCES and not _BACK.fullmatch(name)]
    if wrong or not names:
        raise BadContract(
            "unknown reference",
            received=", ".join(wrong) or "none",
            allowed=f"{', '.join(REFERENCES)}, or previous-2, previous-3 … (catalogue.back)",
        )
    return reference if isinstance(reference, str) else names

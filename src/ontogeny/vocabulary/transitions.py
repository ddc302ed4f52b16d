"""When something formed, and how sure we are."""

from dataclasses import dataclass
from enum import StrEnum

from ontogeny.vocabulary.places import Place


class Verdict(StrEnum):
    """What a detector says of one series. Only `transition` claims that something formed."""

    TRANSITION = "transition"
    NONE = "none"
    GRADUAL = "gradual"
    UNFINISHED = "unfinished"
    BEFORE_START = "before-start"


#: Kinds of change: a level left for a higher or a lower one (in one step: a jump, however it goes on), a
#: largest or smallest value inside the series, a trend that turns round.
CHANGES = ("rise", "fall", "jump", "peak", "trough", "reversal")


@dataclass(frozen=True)
class Located:
    """What a detector says of one series: when it changed, by how much, how sure, or why nothing is claimed.

    Steps are optimizer steps; `low` and `high` bound `step` at `level`. `size` is signed, in the series'
    own unit; `width` is the ln step between 10 % and 90 % of it; `quiet_sd` the noise it was held against.
    `p` is the chance that the null alone reaches the size; None where no null was given. `kind` says what
    sort of change it is: one of `CHANGES`, or empty where the detector knows only one.
    """

    verdict: Verdict
    step: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    size: float | None = None
    width: float | None = None
    quiet_sd: float | None = None
    p: float | None = None
    reason: str = ""
    kind: str = ""


#: What a detector returns: one change, or several at one place in order of steps (never an empty tuple).
Detected = Located | tuple[Located, ...]


def each_located(detected: Detected) -> tuple[Located, ...]:
    """What a detector returned, as a tuple."""
    return (detected,) if isinstance(detected, Located) else detected


@dataclass(frozen=True)
class Transition:
    """A located change with its address: which part, which place, on which stimulus, by which method."""

    part: str
    component: str
    place: Place
    stimulus: str
    unit: str
    method: str
    located: Located

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


@dataclass(frozen=True)
class Located:
    """What a detector says of one series: when it changed, by how much, how sure, or why nothing is claimed.

    Steps are optimizer steps; `low` and `high` bound `step` at `level`. `size` is signed, in the series'
    own unit; `width` is the ln step between 10 % and 90 % of it; `quiet_sd` the noise it was held against.
    `p` is the chance that the null alone reaches the size; None where no null was given.
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

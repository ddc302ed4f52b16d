"""The nouns every layer shares. Nothing here does any work; parts and machinery meet in these types."""

from ontogeny.vocabulary.places import AXES, Place, register_axis
from ontogeny.vocabulary.readings import (
    Fitted,
    Pair,
    Reading,
    Several,
    Status,
    Summarised,
    named_readings,
    undefined,
)
from ontogeny.vocabulary.stimulus import Aim, Stimulus
from ontogeny.vocabulary.streams import Streams, digest, tensor_digest, tensor_head
from ontogeny.vocabulary.training import (
    Counters,
    Draw,
    Losses,
    Saveable,
    Scheduled,
    TrainingState,
    Window,
)
from ontogeny.vocabulary.transitions import CHANGES, Detected, Located, Transition, Verdict, each_located

__all__ = [
    "AXES",
    "CHANGES",
    "Aim",
    "Counters",
    "Detected",
    "Draw",
    "Fitted",
    "Located",
    "Losses",
    "Pair",
    "Place",
    "Reading",
    "Saveable",
    "Scheduled",
    "Several",
    "Status",
    "Stimulus",
    "Streams",
    "Summarised",
    "TrainingState",
    "Transition",
    "Verdict",
    "Window",
    "digest",
    "each_located",
    "named_readings",
    "register_axis",
    "tensor_digest",
    "tensor_head",
    "undefined",
]

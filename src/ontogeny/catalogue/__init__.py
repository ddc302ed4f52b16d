"""What a part is, how it is declared, and how it is found.

A part is one file, one function or class, one name. Its positional parameters are its *needs*, its
keyword-only parameters are its *parameters* (they enter the key of every row it gives). A wrong part
fails where it is declared and says what would be right.
"""

from ontogeny.catalogue.contracts import Batch, DataFacts, Intervention, Objective, RunnableSubject, Tap
from ontogeny.catalogue.course import Course
from ontogeny.catalogue.declare import (
    comparison,
    fit,
    instrument,
    intervention,
    objective,
    stimulus,
    summary,
    trial,
    view,
)
from ontogeny.catalogue.detection import detector, null
from ontogeny.catalogue.part import (
    FAMILIES,
    KINDS,
    MEASURING,
    Part,
    load,
    measuring_part,
    part,
    parts,
    register,
)
from ontogeny.catalogue.references import back

__all__ = [
    "FAMILIES",
    "KINDS",
    "MEASURING",
    "Batch",
    "Course",
    "DataFacts",
    "Intervention",
    "Objective",
    "Part",
    "RunnableSubject",
    "Tap",
    "back",
    "comparison",
    "detector",
    "fit",
    "instrument",
    "intervention",
    "load",
    "measuring_part",
    "null",
    "objective",
    "part",
    "parts",
    "register",
    "stimulus",
    "summary",
    "trial",
    "view",
]

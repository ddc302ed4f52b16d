"""What a summary reads of a part: everything it gave over a series, by step and place."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from ontogeny.store.array_course import ArrayCourse, ReadArray, array_course
from ontogeny.store.labelled import labelled
from ontogeny.vocabulary import Place

#: Needs of a summary that are no parts, and what is given.
OFFERED = {
    "telemetry": "a DataFrame: step, and the metrics the declaration names; absent is NaN",
    "facts": "what is known of the data of the series (DataFacts)",
    "stimulus": "the Stimulus that the rows were measured on",
}


@dataclass(frozen=True)
class Course:
    """One part's rows over a series on one stimulus, newest only, and the arrays they point at.

    `table` has the columns of every row file: step, component, one column an axis, value, low, high, n,
    status, reason. Values that are not `ok` are NaN.
    """

    part: str
    table: pd.DataFrame
    read: ReadArray

    @property
    def steps(self) -> list[int]:
        """All steps it was measured at, in order."""
        return sorted(set(map(int, self.table["step"])))

    def labelled(self, component: str = "") -> Any:
        """Values of one component as an xarray DataArray [step, axis …]; undefined is NaN."""
        return labelled(self.table, self.part, component, str(self.table["stimulus_name"].iloc[0]))

    def arrays(self, component: str = "", **place: int | str) -> ArrayCourse:
        """What it keeps beside its numbers, one array a step, read when asked for."""
        return array_course(self.table, self.read, self.part, component, Place(**place))

"""What a change is looked for in: every place of one part on one stimulus, as series over its checkpoints."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ontogeny.catalogue import Part
from ontogeny.statistics.recorded import Recorded
from ontogeny.store.arrays import read_arrays
from ontogeny.store.run import Run
from ontogeny.vocabulary import AXES, Place

#: How a metric of the telemetry is named among parts: `metric:loss`.
METRIC = "metric:"


@dataclass(frozen=True)
class Candidates:
    """All series of one part on one stimulus: what the best is chosen from.

    steps [checkpoint]; values [place checkpoint], NaN where undefined; null [draw place checkpoint] is what
    the part would read if there were nothing to find, over every place it was measured at, or None.
    """

    part: str
    unit: str
    stimulus: str
    steps: NDArray
    places: tuple[Place, ...]
    values: NDArray
    null: NDArray | None = None
    null_name: str = ""


def measured(rows: pd.DataFrame, made: Part, home: Path) -> Iterator[Candidates]:
    """A part's own number on every stimulus; of several settings the defaults, if they are among them."""
    if (rows["settings"] == "").any():
        rows = rows[rows["settings"] == ""]
    for stimulus, chosen in rows.groupby("stimulus_name", sort=True):
        axes = [axis for axis in AXES if chosen[axis].notna().any()]
        main = chosen[chosen["component"] == ""]
        if axes and (placed := main.dropna(subset=axes, how="all")).size:
            main = placed  # a status of the whole stimulus is no place of its own
        steps, places, values = _by_place(main, axes)
        null = _null(chosen, made, home, steps)
        if len(steps) > 1:
            name = "" if null is None else str(made.null)
            yield Candidates(made.name, made.unit, str(stimulus), steps, places, values, null, name)


def recorded(run: Run, metric: str) -> Candidates:
    """A metric of the telemetry, by step; UnknownName for one that was not recorded."""
    found = Recorded.of(run.telemetry(metric), metric)
    return Candidates(METRIC + metric, "", "", found.steps, (Place(),), found.values[None])


def _by_place(rows: pd.DataFrame, axes: list[str]) -> tuple[NDArray, tuple[Place, ...], NDArray]:
    """Steps [checkpoint], places, and values [place checkpoint]; what is undefined is NaN."""
    steps = np.array(sorted(set(rows["step"])), dtype=np.int64)
    column = {step: index for index, step in enumerate(steps.tolist())}
    values: dict[Place, NDArray] = {}
    for record in rows[[*axes, "step", "value"]].to_dict("records"):
        place = Place(**{axis: record[axis] for axis in axes if not pd.isna(record[axis])})
        line = values.setdefault(place, np.full(len(steps), np.nan))
        line[column[record["step"]]] = np.nan if pd.isna(record["value"]) else record["value"]
    return steps, tuple(values), np.array(list(values.values())).reshape(len(values), len(steps))


def _null(rows: pd.DataFrame, made: Part, home: Path, steps: NDArray) -> NDArray | None:
    """Draws of the part's null [draw place checkpoint] over every place it was measured at."""
    if made.null is None:
        return None
    drawn = rows[rows["component"] == f"null:{made.null}"]
    if drawn.empty:
        return None
    arrays = read_arrays(home, set(drawn["array"]))
    axes = [axis for axis in AXES if axis not in made.axes and drawn[axis].notna().any()]
    newest = drawn.drop_duplicates([*axes, "step"], keep="last").groupby(axes or ["part"], sort=True)
    groups = [group.set_index("step")["array"] for _, group in newest]
    layers = []
    for names in groups:
        draws = [arrays[names[step]].numpy() if step in names.index else None for step in steps.tolist()]
        shape = next(array.shape for array in draws if array is not None)
        whole = [np.full(shape, np.nan) if array is None else array for array in draws]
        layers.append(np.stack(whole, axis=-1).reshape(shape[0], -1, len(steps)))
    return np.concatenate(layers, axis=1).astype(np.float64)

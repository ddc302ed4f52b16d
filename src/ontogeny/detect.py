"""Detect: when each measured number changed, held against its null; or why nothing is claimed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ontogeny.catalogue import Part, measuring_part, part
from ontogeny.errors import NotARun, UnknownName
from ontogeny.series import Series, home_of
from ontogeny.store.arrays import read_arrays
from ontogeny.store.rows import read_rows, read_table, write_table
from ontogeny.vocabulary import AXES, Place, Transition

TABLE = "transitions.parquet"


def detect(
    series: Path | str | Series,
    parts: Sequence[str] = (),
    *,
    detector: str = "half_rise",
    home: Path | str | None = None,
    done: Callable[[str], None] = lambda name: None,
) -> pd.DataFrame:
    """Run a detector over everything measured on a series; returns and stores one row a place.

    Each place of a part is one series over checkpoints. Where the part has a null, it is held against the
    largest value of the null over all places, so that choosing the best head is paid for. A part that was
    measured with several settings is looked at with its defaults. With `parts`, what was stored of others is
    kept. NotARun if nothing was measured, UnknownName for a part that was not.
    """
    home = home_of(series, home)
    rows = read_rows(home)
    if rows.empty:
        opened = series if isinstance(series, Series) else Series.open(series, home)
        raise NotARun(
            f"nothing was measured on {opened.name}", remedy=f"run `ontogeny measure {opened.path}` first"
        )
    known = set(rows["part"])
    for name in parts:
        if name not in known:
            raise UnknownName("measured part of this series", name, known)
    names = list(parts) or sorted(known)
    found = []
    for name in names:
        made, mine = measuring_part(name), rows[rows["part"] == name]
        if (mine["settings"] == "").any():
            mine = mine[mine["settings"] == ""]
        found += [_record(t) for t in transitions_of(mine, made, home, detector)]
        done(name)
    table = pd.DataFrame(found, columns=list(_COLUMNS)).astype(_COLUMNS)
    path = home / TABLE
    whole = table
    if parts and path.exists():
        before = read_table(path).to_pandas().reindex(columns=list(_COLUMNS)).astype(_COLUMNS)
        kept = before[~before["part"].isin(names)]
        whole = pd.concat([kept, table], ignore_index=True).sort_values("part", kind="stable")
    write_table(path, pa.Table.from_pandas(whole, preserve_index=False))
    return table


def transitions_of(rows: pd.DataFrame, made: Part, home: Path, detector: str) -> Iterator[Transition]:
    """What the detector says of every place of one part, for its own number on every stimulus."""
    find = part("detector", detector)
    for stimulus, chosen in rows.groupby("stimulus_name", sort=True):
        axes = [axis for axis in AXES if chosen[axis].notna().any()]
        main = chosen[chosen["component"] == ""]
        if axes and (placed := main.dropna(subset=axes, how="all")).size:
            main = placed  # a status of the whole stimulus is no place of its own
        steps, places, values = _by_place(main, axes)
        null = _null(chosen, made, home, steps, places)
        if len(steps) < 2:
            continue
        for index, place in enumerate(places):
            located = find.make(steps, values[index], null)
            yield Transition(made.name, "", place, str(stimulus), made.unit, detector, located)


def _by_place(rows: pd.DataFrame, axes: list[str]) -> tuple[NDArray, list[Place], NDArray]:
    """Steps [checkpoint], places, and values [place checkpoint]; what is undefined is NaN."""
    steps = np.array(sorted(set(rows["step"])), dtype=np.int64)
    column = {step: index for index, step in enumerate(steps.tolist())}
    values: dict[Place, NDArray] = {}
    for record in rows[[*axes, "step", "value"]].to_dict("records"):
        place = Place(**{axis: record[axis] for axis in axes if not pd.isna(record[axis])})
        line = values.setdefault(place, np.full(len(steps), np.nan))
        line[column[record["step"]]] = np.nan if pd.isna(record["value"]) else record["value"]
    return steps, list(values), np.array(list(values.values())).reshape(len(values), len(steps))


def _null(rows: pd.DataFrame, made: Part, home: Path, steps: NDArray, places: list[Place]) -> NDArray | None:
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


_COLUMNS = {
    "part": "str",
    "component": "str",
    **{axis: "Int64" if kind is int else "str" for axis, kind in AXES.items()},
    "stimulus_name": "str",
    "unit": "str",
    "method": "str",
    "verdict": "str",
    **dict.fromkeys(("step", "low", "high", "level", "size", "width", "quiet_sd", "p"), "float64"),
    "reason": "str",
}


def _record(found: Transition) -> dict:
    located = asdict(found.located)
    verdict = str(located.pop("verdict"))
    head = {"part": found.part, "component": found.component, **found.place}
    return {
        **head,
        "stimulus_name": found.stimulus,
        "unit": found.unit,
        "method": found.method,
        "verdict": verdict,
        **located,
    }


def claimed(table: pd.DataFrame) -> pd.DataFrame:
    """Transitions that are claimed, one a part and stimulus: the place that ended highest above its start."""
    if table.empty:
        return table
    found = table[table["verdict"] == "transition"]
    order = found["size"].abs().sort_values(ascending=False).index
    best = found.loc[order].drop_duplicates(["part", "component", "stimulus_name"])
    return best.sort_values("step", ignore_index=True)

"""Summaries: what follows from everything that was measured on a series, after all its checkpoints."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import pandas as pd
import xxhash
from torch import Tensor

from ontogeny.catalogue import Course, Part
from ontogeny.errors import BadContract
from ontogeny.measure.asked import Asked
from ontogeny.measure.plan import Session
from ontogeny.measure.reading_rows import Row, kept_rows
from ontogeny.record.environment import environment
from ontogeny.store.array_course import ReadArray, stored_arrays
from ontogeny.store.arrays import write_arrays
from ontogeny.store.rows import MEASURED, measured_keys, read_rows, write_rows
from ontogeny.vocabulary import Reading, Status, Stimulus, Summarised, named_readings, undefined

#: MEASURED without the step: a summary of the whole course speaks at its last step only.
_INPUTS = tuple(name for name in MEASURED if name != "step")


class Inputs:
    """What the summaries of a session may read: rows of current keys, telemetry, facts and stimuli."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.read: ReadArray = stored_arrays(session.series.home)

    @cached_property
    def _rows(self) -> pd.DataFrame:
        return read_rows(self.session.series.home)

    def course(self, name: str) -> pd.DataFrame:
        """Rows of one part with its default parameters, at the series' checkpoints and present references."""
        session = self.session
        units = [u for u in session.units if u.part.name == name and not u.part.settings(**u.parameters)]
        addresses = [session.address(unit, c) for unit in units for c in session.series.checkpoints]
        wanted = pd.DataFrame([{key: one[key] for key in MEASURED} for one in addresses], columns=[*MEASURED])
        rows = self._rows[self._rows["part"] == name]
        wanted = wanted.astype(rows[list(MEASURED)].dtypes.to_dict()).drop_duplicates()
        return rows.merge(wanted, on=list(MEASURED), how="inner")

    def telemetry(self, metrics: Iterable[str]) -> pd.DataFrame | Reading:
        """Step and the metrics of the run; those never recorded are NaN throughout."""
        run = self.session.series.run
        known = set() if run is None else set(run.metrics)
        present = [name for name in metrics if name in known]
        if run is None or not present:
            reason = f"no {' or '.join(metrics)} was recorded while this model was trained"
            return undefined(Status.NOT_OBSERVABLE, reason)
        frame = run.telemetry(*present)[["step", *present]]
        return frame.reindex(columns=["step", *metrics])


def summarise(session: Session) -> int:
    """Make every summary whose inputs are not those it was last made from; returns how many there were."""
    if not session.summaries:
        return 0
    home, inputs = session.series.home, Inputs(session)
    done = {key[:1] + key[2:] for key in measured_keys(home)}
    rows: list[Row] = []
    arrays: dict[str, Any] = {}
    count = 0
    for asked in session.summaries:
        for stimulus in _stimuli(inputs, asked.part):
            offered = _offered(inputs, asked.part, stimulus)
            address = _address(session, asked, stimulus, offered)
            if tuple(str(address[name]) for name in _INPUTS) in done:
                continue
            count += 1
            last = _last(session, offered)
            for one in said(asked, offered):
                _add(rows, arrays, asked.part, address, one, last)
    if rows:
        last = max(row["step"] for row in rows)
        write_arrays(home, arrays)
        write_rows(home, f"{last:06d}-{time.time_ns():020d}-{os.getpid()}", rows, environment())
    return count


def _stimuli(inputs: Inputs, made: Part) -> list[str]:
    """Names of the stimuli that all parts it reads were measured on; one nameless if it reads telemetry."""
    shared: list[str] | None = None
    for name in made.options["of"]:
        units = [unit.stimulus_name for unit in inputs.session.units if unit.part.name == name]
        found = list(dict.fromkeys(units))
        shared = found if shared is None else [name for name in shared if name in found]
    if shared is None:
        return [""]
    return [name for name in shared if not made.stimuli or name in made.stimuli]


def _offered(inputs: Inputs, made: Part, stimulus: str) -> dict[str, Any]:
    """What each need is given, in the order of the signature; a Reading where it does not exist."""
    session = inputs.session
    given = {
        "facts": lambda: session.facts,
        "stimulus": lambda: session.stimulus(stimulus) if stimulus else _no_stimulus(made),
        "telemetry": lambda: inputs.telemetry(made.options["telemetry"]),
    }
    return {need: given.get(need, lambda need=need: _course(inputs, need, stimulus))() for need in made.needs}


def _no_stimulus(made: Part) -> Reading:
    return undefined(Status.NO_TARGET, f"{made.name} reads what needs no stimulus")


def _course(inputs: Inputs, name: str, stimulus: str) -> Course:
    rows = inputs.course(name)
    return Course(name, rows[rows["stimulus_name"] == stimulus].reset_index(drop=True), inputs.read)


def _address(session: Session, asked: Asked, stimulus: str, offered: Mapping[str, Any]) -> Row:
    """What rows of a summary begin with; `reference` is the hash of everything it reads."""
    given = session.stimulus(stimulus) if stimulus else None
    return {
        "run": session.series.id,
        "attempt": 0,
        "checkpoint": "",
        "part": asked.part.name,
        "version": asked.part.version,
        "parameters": asked.part.parameter_hash(**asked.parameters),
        "settings": asked.part.settings(**asked.parameters),
        "stimulus": given.hash if isinstance(given, Stimulus) else stimulus,
        "stimulus_name": stimulus,
        "reference": _fingerprint(offered),
        "condition": "",
    }


def _fingerprint(offered: Mapping[str, Any]) -> str:
    """Sixteen hex digits over the keys of all rows read and over all telemetry read, in their order."""
    state = xxhash.xxh3_64()
    for name, value in offered.items():
        state.update(name.encode())
        if isinstance(value, Course):
            keys = value.table[[*MEASURED, "status"]].drop_duplicates().sort_values([*MEASURED, "status"])
            state.update(keys.to_csv(index=False).encode())
        elif isinstance(value, pd.DataFrame):
            state.update(value.to_numpy(dtype="float64", na_value=float("nan")).tobytes())
        elif isinstance(value, Reading):
            state.update(str(value.status).encode())
    return state.hexdigest()


def _last(session: Session, offered: Mapping[str, Any]) -> int:
    """The last step of what was read, where a summary of the whole course stands."""
    steps = [
        int(frame["step"].max())
        for frame in (value.table if isinstance(value, Course) else value for value in offered.values())
        if isinstance(frame, pd.DataFrame) and len(frame)
    ]
    return max(steps, default=session.series.checkpoints[-1].step)


def said(asked: Asked, offered: Mapping[str, Any]) -> list[Summarised]:
    """What a summary says of its needs, given by name in the order of its signature.

    What it raises, and what its inputs lack, becomes a status.
    """
    made = asked.part
    for value in offered.values():
        if isinstance(gap := _gap(value), Reading):
            return [Summarised(gap)]
    try:
        found = list(_each(made, made.make(*offered.values(), **made.bind(**asked.parameters))))
    except BadContract:
        raise
    except Exception as error:
        return [Summarised(undefined(Status.FAILED, f"{type(error).__name__}: {error}"))]
    return found or [Summarised(undefined(Status.NO_TARGET, "nothing was found to be said"))]


def _gap(value: Any) -> Any:
    """The status that a summary must hand on: of an input that does not exist, or is nowhere `ok`."""
    if not isinstance(value, Course):
        return value
    if value.table.empty:
        return undefined(Status.NO_TARGET, f"{value.part} was not measured")
    if (value.table["status"] == Status.OK).any():
        return None
    first = value.table.iloc[0]
    return undefined(Status(first["status"]), f"{value.part}: {first['reason']}")


def _each(made: Part, returned: Any) -> Iterator[Summarised]:
    """One or several named readings of the whole course, or whatever it places itself."""
    if isinstance(returned, Reading | Mapping | Tensor) or not isinstance(returned, Iterable):
        named = named_readings(returned).items()
        yield from (Summarised(reading, component=component) for component, reading in named)
        return
    for one in returned:
        if not isinstance(one, Summarised):
            raise BadContract(
                f"summary {made.name!r} returned something that has no place",
                received=type(one).__name__,
                allowed="a Reading, named Readings, or an iterable of Summarised",
            )
        yield one


def _add(
    rows: list[Row], arrays: dict[str, Any], made: Part, address: Row, one: Summarised, last: int
) -> None:
    found, kept = kept_rows(made, one.component, one.place, one.reading)
    step = last if one.step is None else one.step
    rows += [{**address, "step": step, **row} for row in found]
    arrays |= kept

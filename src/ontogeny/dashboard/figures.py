"""The descriptions of figures that reports have, from the same view parts, for the page to draw."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ontogeny.catalogue import part
from ontogeny.dashboard.entry import Entry
from ontogeny.dashboard.queries import BadQuery, required
from ontogeny.dashboard.run_page import samples_of
from ontogeny.views.telemetry import TRAINING

#: Records of telemetry that a view is given at most: views of reports bucket by themselves.
MOST_RECORDS = 400_000
#: Metrics of the whole model that views ask for.
METRICS = (*TRAINING, "heldout_loss", "clip_coefficient", "update_ratio", "weight_norm", "step_seconds")


def figure(entry: Entry, query: Mapping[str, str]) -> Any:
    """One view of one run, as plain JSON values. Its own parameters may be given in the query."""
    made = part("view", required(query, "view"))
    tables = _tables(entry, made.needs)
    chosen = {
        name: _typed(made.parameters[name], name, query[name]) for name in made.parameters if name in query
    }
    return made.make(*tables, **chosen).plain()


def _tables(entry: Entry, needs: tuple[str, ...]) -> list[Any]:
    found = []
    for need in needs:
        if need == "telemetry":
            found.append(telemetry(entry))
        elif need == "rows":
            found.append(entry.tables.rows())
        elif need == "transitions":
            found.append(entry.tables.transitions())
        elif need == "samples":
            found.append([(one["step"], one["text"]) for one in samples_of(entry)])
        else:
            raise BadQuery(f"this view needs {need!r}, which a run does not have")
    return found


def telemetry(entry: Entry) -> pd.DataFrame:
    """What views know as telemetry: a row a record of training or evaluation, superseded ones too."""
    with entry.lock:
        entry.look()
        frames = []
        for number, attempt in enumerate(entry.attempts):
            columns: dict[str, Any] = {"step": attempt.steps, "attempt": number, "seconds": attempt.seconds}
            frame = pd.DataFrame(columns)
            carried = pd.Series(False, index=frame.index)
            for name in [name for name in attempt.metrics if name in METRICS]:
                rows, values = attempt.values(name)
                frame.loc[rows, name] = values
                carried.iloc[rows] = True
            frames.append(frame[carried])
    count = sum(map(len, frames))
    if count > MOST_RECORDS:
        raise BadQuery(
            "this run is too long for a report's figure", received=f"{count:,} records", allowed="/api/series"
        )
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _typed(default: Any, name: str, text: str) -> Any:
    """A parameter's text as its default is: a number, a text, or several separated by commas."""
    if isinstance(default, tuple):
        words = tuple(filter(None, text.split(",")))
        return tuple(map(int, words)) if all(word.isdecimal() for word in words) else words
    if isinstance(default, str) or default is None:
        return text
    try:
        return type(default)(text)
    except (TypeError, ValueError):
        raise BadQuery(f"{name} is not usable", received=text[:80], allowed=f"such as {default!r}") from None

"""One run, or one series of checkpoints: everything measured on it, looked at by a detector."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from ontogeny.catalogue import Part, measuring_part
from ontogeny.detect.candidates import METRIC, Candidates, measured, recorded
from ontogeny.detect.correction import correction_of, q_values
from ontogeny.detect.looking import Detector
from ontogeny.detect.table import Least, as_table, read_transitions, record, write_transitions
from ontogeny.errors import NotARun, UnknownName
from ontogeny.series import Series, home_of
from ontogeny.store.rows import read_rows
from ontogeny.store.run import Run
from ontogeny.vocabulary import Transition


def detect(
    series: Path | str | Series,
    parts: Sequence[str] = (),
    *,
    detector: str = "half_rise",
    null: str | None = None,
    least: Least = None,
    correction: str = "bh",
    home: Path | str | None = None,
    done: Callable[[str], None] = lambda name: None,
) -> pd.DataFrame:
    """Look at everything measured on a series; returns and stores one row a change, or a place without one.

    detector    a name, or a call: `pelt(penalty=2)`
    parts       measured parts, and metrics of a run's telemetry as `metric:loss`; all parts if none is named.
                What was stored of others is kept.
    null        for parts without a null of their own, one of series: `default` (the detector's), or a name;
                without one these parts are described, and nothing is claimed of them
    least       the least size worth telling: a number, or numbers by part or unit (`LEAST` if None)
    correction  `bh` or `by`: how q is made of p over parts and stimuli (`q_values`)

    Each place of a part is one series over checkpoints. p is held against the largest value of the null over
    all places, so that choosing the best head is paid for; q also pays for the number of parts that are
    stored. A claim rests on p; q is told beside it. Of several settings of a part the defaults are looked at.
    NotARun if nothing was measured, UnknownName for what was not.
    """
    home, chosen, method = home_of(series, home), Detector.of(detector, null), correction_of(correction)
    found, names = [], []
    for name, some in _asked(series, home, parts):
        names.append(name)
        for candidates in some:
            for transition, drawn in chosen.over(candidates, least):
                found.append({**record(transition), "settings": chosen.settings, "null": drawn})
        done(name)
    before = read_transitions(home)
    whole = pd.concat([before[~before["part"].isin(names)], as_table(found)], ignore_index=True)
    whole = whole.sort_values("part", kind="stable", ignore_index=True)
    whole["q"] = q_values(whole, method)
    write_transitions(home, whole)
    return whole[whole["part"].isin(names)].reset_index(drop=True)


def transitions_of(rows: pd.DataFrame, made: Part, home: Path, detector: str) -> Iterator[Transition]:
    """What a detector says of every place of one part, for its own number on every stimulus."""
    for candidates in measured(rows, made, home):
        for transition, _ in Detector.of(detector).over(candidates):
            yield transition


def _asked(
    series: Path | str | Series, home: Path, parts: Sequence[str]
) -> Iterator[tuple[str, list[Candidates]]]:
    """What is looked at, by name; metrics after parts."""
    metrics = [name.removeprefix(METRIC) for name in parts if name.startswith(METRIC)]
    named = [name for name in parts if not name.startswith(METRIC)]
    if named or not metrics:
        rows = read_rows(home)
        known = set(rows["part"])
        if rows.empty:
            opened = series if isinstance(series, Series) else Series.open(series, home)
            raise NotARun(
                f"nothing was measured on {opened.name}", remedy=f"run `ontogeny measure {opened.path}` first"
            )
        for name in named:
            if name not in known:
                raise UnknownName("measured part of this series", name, known)
        for name in named or sorted(known):
            yield name, list(measured(rows[rows["part"] == name], measuring_part(name), home))
    if metrics:
        run = series.run if isinstance(series, Series) else Run.open(series)
        if run is None:
            raise NotARun("checkpoints that are no run have no telemetry", received=f"{METRIC}{metrics[0]}")
        for metric in metrics:
            yield METRIC + metric, [recorded(run, metric)]

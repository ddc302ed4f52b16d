"""Telemetry as the front end draws it: buckets of runs on shared edges, groups of runs, two runs compared."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontogeny.dashboard.entry import Entry
from ontogeny.dashboard.frames import Column, frame
from ontogeny.dashboard.pyramid import Pyramid, level_within, window_means, within
from ontogeny.dashboard.queries import Ask, BadQuery
from ontogeny.dashboard.strands import Strand
from ontogeny.errors import UnknownName
from ontogeny.statistics.mean_of_series import mean_of_series
from ontogeny.views.buckets import Buckets

Numbers = NDArray[np.float64]


def series(entries: Sequence[Entry], ask: Ask) -> bytes:
    """Every run's strands in the same buckets; see `Column` names in the header's layout."""
    courses = [(entry, *_course(entry, ask)) for entry in entries]
    level = _level([pyramids for _, pyramids, _ in courses], ask)
    bucketed = iter(within([one for _, pyramids, _ in courses for one in pyramids], *ask.ticks, level))
    told: list[dict[str, Any]] = []
    columns: list[Column] = []
    for entry, pyramids, reason in courses:
        if not pyramids:
            told.append({"run": entry.id, "points": 0, "buckets": 0, "reason": reason})
        for pyramid in pyramids:
            held = next(bucketed)
            told.append({"run": entry.id, **_about(pyramid, held, ask)})
            columns += _columns(pyramid, held, ask, len(told) - 1)
    return frame(_header(ask, level, series=told), columns)


def _header(ask: Ask, level: int, **more: Any) -> dict[str, Any]:
    smooth = {"window": ask.window} if ask.window else {"smooth": ask.smooth}
    return {"metric": ask.metric, "x": ask.axis, "scale": ask.scale, "level": level, **smooth, **more}


def _course(entry: Entry, ask: Ask) -> tuple[Sequence[Pyramid], str]:
    try:
        found = entry.pyramids(ask.metric, ask.axis, ask.scale)
    except UnknownName:
        return [], f"the run has no {ask.axis}"
    return found, "" if found else "the run has no such metric"


def _level(courses: Sequence[Sequence[Pyramid]], ask: Ask) -> int:
    """The finest level that is coarse enough for every run's standing points."""
    standing = [one for pyramids in courses for one in pyramids if not one.strand.superseded]
    return level_within(standing, *ask.ticks, ask.most)


def _about(pyramid: Pyramid, held: Buckets, ask: Ask) -> dict[str, Any]:
    strand = pyramid.strand
    return {
        "attempt": strand.attempt,
        "superseded": strand.superseded,
        "points": int(held.count.sum()),
        "buckets": len(held),
        "nonfinite": int(held.nonfinite.sum()),
        "segments": strand.segments,
        "x0": min((first for _, first, _ in strand.segments), default=None),
        "x1": max((last for _, _, last in strand.segments), default=None),
        "total": len(strand),
    }


def _columns(pyramid: Pyramid, held: Buckets, ask: Ask, index: int) -> list[Column]:
    found = [
        Column("left", "f8", held.left / ask.unit, index),
        Column("right", "f8", held.right / ask.unit, index),
        *(Column(name, "f4", getattr(held, name), index) for name in ("first", "low", "high", "last")),
        Column("count", "u4", held.count, index),
        Column("nonfinite", "u4", held.nonfinite, index),
    ]
    if ask.smooth or ask.window:
        found.append(Column("smooth", "f4", _smoothed(pyramid.strand, held, ask), index))
    return found


def _smoothed(strand: Strand, held: Buckets, ask: Ask) -> Numbers:
    """The mean of the raw values around each bucket's middle: within ± half a window that is a share of x, or
    a number of its units; never narrower than the bucket itself."""
    centre = held.centre
    half = np.full(len(held), ask.window * ask.unit / 2) if ask.window else centre * (ask.smooth / 2)
    low, high = np.minimum(centre - half, held.left), np.maximum(centre + half, held.right - 1)
    return window_means(strand, np.ceil(low).astype(np.int64), np.floor(high).astype(np.int64))


def groups(entries: Sequence[Entry], ask: Ask) -> bytes:
    """Runs of one configuration together: their mean and band at every bucket, over those that have it.

    A run counts with the mean of its finite values in the bucket, smoothed if that is asked for. The band is
    ± one standard deviation (n − 1), a Student interval of the mean, or from the least to the greatest.
    """
    members: dict[str, list[tuple[Entry, Pyramid]]] = {}
    for entry in entries:
        pyramids = [pyramid for pyramid in _course(entry, ask)[0] if not pyramid.strand.superseded]
        if pyramids:
            members.setdefault(entry.group or entry.id, []).append((entry, pyramids[0]))
    level = _level([[pyramid for _, pyramid in held] for held in members.values()], ask)
    told: list[dict[str, Any]] = []
    columns: list[Column] = []
    for group, held in members.items():
        left, right, values = _table([pyramid for _, pyramid in held], ask, level)
        mean, low, high, n = band(values, ask.band)
        index = len(told)
        ids = [entry.id for entry, _ in held]
        told.append({"group": group, "n": len(held), "runs": ids, "buckets": len(left), "band": ask.band})
        columns += [
            Column("left", "f8", left / ask.unit, index),
            Column("right", "f8", right / ask.unit, index),
            Column("mean", "f4", mean, index),
            Column("low", "f4", low, index),
            Column("high", "f4", high, index),
            Column("n", "u4", n, index),
        ]
    return frame(_header(ask, level, series=told), columns)


def _table(pyramids: Sequence[Pyramid], ask: Ask, level: int) -> tuple[Any, Any, Numbers]:
    """Edges of all buckets that any of the strands has, and one row of values a strand."""
    held = within(pyramids, *ask.ticks, level)
    left, first = np.unique(np.concatenate([one.left for one in held]), return_index=True)
    right = np.concatenate([one.right for one in held])[first]
    values = np.full((len(held), len(left)), np.nan)
    for row, (pyramid, one) in enumerate(zip(pyramids, held, strict=True)):
        smooth = bool(ask.smooth or ask.window)
        means = _smoothed(pyramid.strand, one, ask) if smooth else _means(pyramid.strand, one)
        values[row, np.searchsorted(left, one.left)] = means
    return left, right, values


def _means(strand: Strand, held: Buckets) -> Numbers:
    return window_means(strand, held.left, held.right - 1)


def band(values: Numbers, kind: str) -> tuple[Numbers, Numbers, Numbers, NDArray[np.int64]]:
    """Mean, low, high and how many rows have a value, for every column of values [row column].

    Equal rows have themselves as their mean. Where one row alone has a value there is no spread: low and high
    are NaN, but for the range.
    """
    told = mean_of_series([(np.arange(values.shape[1]), row) for row in values])
    mean, n, there = told.mean, told.n, np.isfinite(values)
    if kind == "ci":
        return mean, told.low, told.high, n
    if kind == "range":
        low, high = np.where(there, values, np.inf).min(axis=0), np.where(there, values, -np.inf).max(axis=0)
        return mean, np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan), n
    with np.errstate(over="ignore"):
        squares = np.square(np.where(there, values - mean, 0.0)).sum(axis=0)
    spread = np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)
    return mean, mean - spread, mean + spread, n


def compared(a: Entry, b: Entry, ask: Ask) -> bytes:
    """Two runs and their difference a − b, in means over buckets of the x that both have.

    Only points at equal x are taken, so that a difference is never one of sampling.
    """
    found = [_standing(entry, ask) for entry in (a, b)]
    x, here, there = np.intersect1d(found[0].x, found[1].x, assume_unique=False, return_indices=True)
    mine, others = found[0].y[here], found[1].y[there]
    with np.errstate(invalid="ignore", over="ignore"):
        apart = mine - others
    made = [Pyramid(Strand(0, False, (), x, y), ask.scale) for y in (mine, others, apart)]
    level = _level([made[:1]], ask)
    held = made[2].within(*ask.ticks, level)
    means = [_means(pyramid.strand, held) for pyramid in made]
    header = _header(ask, level, a=a.id, b=b.id, points=len(x), buckets=len(held))
    names = ("a", "b", "difference")
    return frame(
        header,
        [
            Column("left", "f8", held.left / ask.unit),
            Column("right", "f8", held.right / ask.unit),
            *(Column(name, "f4", mean) for name, mean in zip(names, means, strict=True)),
            Column("count", "u4", held.count),
            Column("nonfinite", "u4", held.nonfinite),
        ],
    )


def _standing(entry: Entry, ask: Ask) -> Strand:
    pyramids, reason = _course(entry, ask)
    if not pyramids or pyramids[0].strand.superseded:
        raise BadQuery(f"{entry.name} cannot be compared", received=reason, allowed="a metric that both have")
    strand = pyramids[0].strand
    last = np.append(np.diff(strand.x) > 0, True)  # of several records at one x the last
    return strand if last.all() else Strand(strand.attempt, False, (), strand.x[last], strand.y[last])


def metric_page(entry: Entry, query: Mapping[str, str], page: int, size: int) -> dict[str, Any]:
    """Names of metrics that fit a prefix and a text, a page of them with their last values and counts."""
    prefix, text = query.get("prefix", ""), query.get("q", "").casefold()
    with entry.lock:
        found = [n for n in entry.metrics if n.startswith(prefix) and text in n.casefold()]
        shown = found[page * size : (page + 1) * size]
        last: dict[str, float] = {}
        counts: dict[str, int] = {}
        for attempt in entry.attempts:
            last |= attempt.last(shown)
            for name, count in attempt.counts(shown).items():
                counts[name] = counts.get(name, 0) + count
    names = [{"name": name, "last": last.get(name), "count": counts.get(name, 0)} for name in shown]
    return {"total": len(found), "page": page, "size": size, "names": names}

"""The table of runs and one run's page: what is recorded, measured, kept."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from ontogeny.dashboard.entry import Entry
from ontogeny.dashboard.queries import BadQuery, paged
from ontogeny.dashboard.shelf import Shelf

#: Columns that every table has, and how they are read.
COLUMNS = (
    ("name", "run", "text"),
    ("status", "status", "text"),
    ("steps", "steps", "number"),
    ("tokens", "tokens", "number"),
    ("seconds", "time", "seconds"),
    ("parameters", "parameters", "number"),
    ("grade", "grade", "text"),
    ("seed", "seed", "number"),
    ("claims", "claims", "number"),
    ("started", "started", "date"),
)
#: Most keys of the configuration, and metrics, that get a column.
MOST_KEYS, MOST_METRICS = 24, 12
FIRST_METRICS = ("loss", "heldout_loss", "gradient_norm")
TERM = re.compile(r"([^=<>]+)(=|<|>)(.*)", re.DOTALL)


def run_line(shelf: Shelf, entry: Entry) -> dict[str, Any]:
    """A run in the table."""
    said = shelf.summaries.of(entry)
    entry.read_identity()
    identity = entry.identity
    grade = identity.get("grade")
    return {
        "id": entry.id,
        "name": entry.name,
        "title": identity.get("title", ""),
        "status": said["status"],
        "grade": grade.get("letter", "S") if isinstance(grade, Mapping) else "",
        "kind": entry.kind,
        "parent": shelf.parent_of(entry),
        "forked_at": entry.parent.get("step"),
        "interventions": entry.interventions,
        "seed": entry.seed,
        "config": entry.config,
        "group": entry.group or entry.id,
        "steps": said["steps"],
        "tokens": said["tokens"],
        "seconds": said["seconds"],
        "parameters": identity.get("parameters"),
        "started": identity.get("created"),
        "last": said["last"],
        "claims": said["claims"],
        "damage": entry.damage,
    }


def collection(shelf: Shelf, query: Mapping[str, str], cursor: str) -> dict[str, Any]:
    """One page of the table; only the runs on it are read, unless what is sorted by is in all of them."""
    page, size = paged(query)
    found = [entry for entry in shelf.entries() if matches(entry, query.get("q", ""))]
    found = _sorted(shelf, found, query.get("sort", ""))
    shown = found[page * size : (page + 1) * size]
    lines = [run_line(shelf, entry) for entry in shown]
    shelf.summaries.save()
    return {
        "name": shelf.name,
        "total": len(found),
        "page": page,
        "size": size,
        "cursor": cursor,
        "columns": _columns(shelf, lines),
        "runs": lines,
    }


def _columns(shelf: Shelf, lines: list[dict[str, Any]]) -> list[dict[str, str]]:
    names = list(dict.fromkeys([n for n in FIRST_METRICS if any(n in line["last"] for line in lines)]))
    names += [name for name in dict.fromkeys(n for line in lines for n in line["last"]) if name not in names]
    fixed = [{"key": key, "title": title, "kind": kind} for key, title, kind in COLUMNS]
    keys = [{"key": f"config.{key}", "title": key, "kind": "config"} for key in shelf.varying[:MOST_KEYS]]
    last = [{"key": f"last.{name}", "title": name, "kind": "metric"} for name in names[:MOST_METRICS]]
    return [*fixed, *keys, *last]


def matches(entry: Entry, text: str) -> bool:
    """Whether every word fits: key=value, key<number, key>number over the configuration, else any text in
    the name, the title, an intervention."""
    return all(_fits(entry, word) for word in text.split())


def _fits(entry: Entry, word: str) -> bool:
    if (term := TERM.fullmatch(word)) is not None:
        key, sign, wanted = term.groups()
        values = [v for k, v in entry.config.items() if k == key or k.endswith(f".{key}")]
        values += [entry.seed] if key == "seed" and not values else []
        return any(_holds(value, sign, wanted) for value in values)
    said = (entry.name, entry.identity.get("title", ""), entry.id, *entry.interventions)
    return any(word.casefold() in str(one).casefold() for one in said)


def _holds(value: Any, sign: str, wanted: str) -> bool:
    number, bound = _number(value), _number(wanted)
    if sign == "=":
        return str(value).casefold() == wanted.casefold() or (number is not None and number == bound)
    if number is None or bound is None:
        return False
    return number < bound if sign == "<" else number > bound


def _number(value: Any) -> float | None:
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(found) else found


def _sorted(shelf: Shelf, entries: list[Entry], sort: str) -> list[Entry]:
    """By one column, descending with a minus; runs without the value come last either way."""
    if not sort:
        return entries
    key, down = sort.lstrip("-"), sort.startswith("-")
    value = _getter(shelf, key)
    pairs = [(value(entry), entry) for entry in entries]
    there = [pair for pair in pairs if not _absent(pair[0])]
    rest = [entry for found, entry in pairs if _absent(found)]
    there.sort(key=lambda pair: _comparable(pair[0]), reverse=down)
    return [entry for _, entry in there] + rest


def _absent(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _comparable(value: Any) -> tuple[int, float, str]:
    if isinstance(value, bool | int | float):
        return 0, float(value), ""
    return 1, 0.0, str(value).casefold()


def _getter(shelf: Shelf, key: str) -> Callable[[Entry], Any]:
    told = {
        "name": lambda entry: entry.name,
        "started": lambda entry: entry.identity.get("created"),
        "parameters": lambda entry: entry.identity.get("parameters"),
        "seed": lambda entry: entry.seed,
        "kind": lambda entry: entry.kind,
        "group": lambda entry: entry.group,
        "grade": lambda entry: (entry.identity.get("grade") or {}).get("letter"),
    }
    if key in told:
        return told[key]
    if key in ("status", "steps", "tokens", "seconds", "claims"):
        return lambda entry: shelf.summaries.of(entry)[key]
    if key.startswith("last."):
        return lambda entry: shelf.summaries.of(entry)["last"].get(key[5:])
    if key.startswith("config."):
        return lambda entry: entry.config.get(key[7:])
    raise BadQuery(
        "sort is not usable",
        received=key[:80],
        allowed="a column's key, with a minus in front for descending",
    )

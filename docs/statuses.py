"""Which statuses the code of a part can give beside `ok`, read off what it calls."""

import types
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from ontogeny.catalogue import Part
from ontogeny.evidence import EVIDENCE
from ontogeny.vocabulary import Status

#: What any part can give, whatever its code says.
GENERAL = frozenset({Status.OK, Status.NONFINITE, Status.OVER_BUDGET, Status.FAILED})
#: Where the code of parts and of what they need stands; machinery above it is described once for all.
FOLDERS = tuple(f"ontogeny.{name}." for name in ("instruments", "evidence", "numerics", "statistics"))


def statuses_of(part: Part) -> list[str]:
    """Statuses named in a part, in its needs and in whatever they call, but those that any part can give."""
    found: set[Status] = set()
    seen: set[int] = set()
    pending: list[Any] = [part.make, *evidence_makers(part.needs, part.at)]
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Status):
            found.add(one)
        pending += list(named_in(one))
    return [str(status) for status in Status if status in found - GENERAL]


def evidence_makers(needs: Iterable[str], at: Iterable[str]) -> Iterator[Callable[..., Any]]:
    """What reduces or derives the needs at these kinds of site, and what that needs in turn."""
    for need in needs:
        for site in at:
            kind = EVIDENCE.get(need, {}).get(site)
            if kind is not None:
                yield kind.make
                yield from evidence_makers(kind.needs, (kind.source,))


def named_in(one: Any) -> Iterator[Any]:
    """Statuses, functions, classes and containers that a piece of our code names."""
    if isinstance(one, partial):
        yield one.func
    elif isinstance(one, dict):
        yield from one.values()
    elif isinstance(one, list | tuple | set | frozenset):
        yield from one
    elif isinstance(one, property):
        yield one.fget
    elif isinstance(one, staticmethod | classmethod):
        yield one.__func__
    elif isinstance(one, type) and ours(one):
        yield from (*one.__bases__, *vars(one).values())
    elif hasattr(one, "func") and not isinstance(one, type):  # functools.cached_property
        yield one.func
    elif isinstance(one, types.FunctionType) and ours(one):
        yield from (cell.cell_contents for cell in one.__closure__ or ())
        yield from _globals_of(one)


def ours(one: Any) -> bool:
    """Whether a function or class stands with the parts or below them."""
    return f"{one.__module__}.".startswith(FOLDERS)


def _globals_of(function: types.FunctionType) -> Iterator[Any]:
    names = {name for code in _codes(function.__code__) for name in code.co_names}
    for name in names:
        value = function.__globals__.get(name)
        if value is Status:
            yield from (Status[member] for member in names & set(Status.__members__))
        elif isinstance(value, types.ModuleType) and value.__name__.startswith("ontogeny."):
            yield from (getattr(value, other) for other in names if hasattr(value, other))
        elif value is not None and not isinstance(value, types.ModuleType):
            yield value


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)

"""Which parts a caller asks for: names, calls with parameters, families and patterns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from ontogeny.catalogue import FAMILIES, MEASURING, Part, measuring_part, parts
from ontogeny.catalogue.calls import read_call
from ontogeny.errors import UnknownName

#: What is measured where nothing is named: what costs at most a pass. Trials and unneeded fits are asked for.
BY_DEFAULT = ("instrument", "comparison", "summary")
EVERYTHING = "*"


@dataclass(frozen=True)
class Asked:
    """A part, and the parameters it is to have."""

    part: Part
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        return self.part.name, self.part.parameter_hash(**self.parameters)


def asked_parts(names: Sequence[str] = ()) -> list[Asked]:
    """What is asked for, each once, and the parts these read in turn (fits, and parts of a summary).

    A name is a part's own (`cka`), a call (`cka(variant='biased')`), a family (`heads.*`), or a pattern
    over names (`*_rank`) or over both (`heads.*_entropy`); `*` is the whole catalogue. No names: every
    instrument that needs no training step, every comparison and summary. UnknownName for what nothing
    answers to, with the list.
    """
    found: dict[tuple[str, str], Asked] = {}
    for one in [asked for name in names for asked in _named(name)] if names else _by_default():
        _take(one, found)
    return list(found.values())


def _take(one: Asked, found: dict[tuple[str, str], Asked]) -> None:
    if found.setdefault(one.key, one) is not one:
        return
    fits = parts("fit")
    read = one.part.options.get("of", ()) if one.part.kind == "summary" else one.part.needs
    for need in read:
        if one.part.kind == "summary":
            _take(Asked(measuring_part(need)), found)
        elif need in fits and need != one.part.name:
            _take(Asked(fits[need]), found)


def _by_default() -> list[Asked]:
    made = [made for kind in BY_DEFAULT for made in parts(kind).values()]
    return [Asked(one) for one in made if not one.online]


def _named(name: str) -> list[Asked]:
    known = {part.name: part for kind in sorted(MEASURING) for part in parts(kind).values()}
    if "(" in name:
        called, values = read_call(name)
        made = measuring_part(called.rpartition(".")[2])
        made.bind(**values)
        return [Asked(made, values)]
    family, dot, pattern = name.rpartition(".")
    if dot and family not in FAMILIES:
        raise UnknownName("family of parts", family, FAMILIES)
    matching = [
        Asked(made)
        for made in known.values()
        if fnmatchcase(made.name, pattern) and (not dot or made.family == family)
    ]
    if not matching:
        raise UnknownName("measuring part", name, [*known, *(f"{family}.*" for family in FAMILIES)])
    return matching

"""What was looked for and is not claimed, grouped so that a reader can take it in."""

import re

import pandas as pd

from ontogeny.catalogue import view
from ontogeny.views.figure import Cell, Column, Figure, Panel, Table
from ontogeny.views.tables import plural, short_place, text_of, words

COLUMNS = (
    Column("part", "name"),
    Column("stimulus", "name"),
    Column("verdict"),
    Column("places", "prose"),
    Column("reason", "prose"),
)

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@view()
def not_found(transitions: pd.DataFrame, *, most: int = 6) -> Figure:
    """Series without a claim, by part, stimulus, verdict and the gist of the reason.

    Up to `most` places are named. A gist ends before the first colon, semicolon or bracket, and reasons that
    differ only in numbers are one; what is said alike of more than `most` parts is said once, at the end.
    `transition_table` has every series with its whole reason.
    """
    if "verdict" not in transitions:
        return Figure("Looked for, not claimed", (Panel("Not claimed", (Table(COLUMNS, ()),)),))
    rest = transitions[transitions["verdict"] != "transition"]
    groups: dict[tuple[str, str, str, str], list[tuple[str, str]]] = {}
    for _, row in rest.iterrows():
        part, stimulus = (words(text_of(row, name)) for name in ("part", "stimulus_name"))
        gist = _gist(text_of(row, "reason"))
        key = (part, stimulus, text_of(row, "verdict"), NUMBER.sub("…", gist))
        groups.setdefault(key, []).append((short_place(row) or "whole model", gist))
    alike: dict[tuple[str, str], dict[str, int]] = {}
    for (part, _, verdict, masked), found in groups.items():
        parts = alike.setdefault((verdict, masked), {})
        parts[part] = parts.get(part, 0) + len(found)
    many = {said: parts for said, parts in alike.items() if len(parts) > most}
    rows: list[tuple[Cell, ...]] = [
        (*key[:3], _places([place for place, _ in found], most), _shared([gist for _, gist in found]))
        for key, found in groups.items()
        if key[2:] not in many
    ]
    rows += [
        (", ".join(parts), "", verdict, plural(sum(parts.values()), "series", "series"), masked)
        for (verdict, masked), parts in many.items()
    ]
    note = f"{plural(len(rest), 'series', 'series')} without a claim, of {len(transitions):,} looked at."
    return Figure(
        "Looked for, not claimed", (Panel("Not claimed", (Table(COLUMNS, tuple(rows)),)),), note=note
    )


def _gist(reason: str) -> str:
    """What a reason says before it goes into numbers and reservations."""
    return re.split(r"[:;(]", reason, maxsplit=1)[0].strip()


def _shared(gists: list[str]) -> str:
    """The gist with those numbers left out that are not the same in all."""
    numbers = [NUMBER.findall(gist) for gist in gists]
    same = iter(one if len({one, *others}) == 1 else "…" for one, *others in zip(*numbers, strict=True))
    return NUMBER.sub(lambda _: next(same), gists[0])


def _places(places: list[str], most: int) -> str:
    named = ", ".join(places[:most])
    return named if len(places) <= most else f"{named} and {len(places) - most:,} more"

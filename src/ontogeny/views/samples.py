"""What the model wrote as it learned."""

from collections.abc import Sequence

from ontogeny.catalogue import view
from ontogeny.views.figure import Column, Figure, Panel, Table
from ontogeny.views.tables import geometric

COLUMNS = (Column("step", "step"), Column("what it wrote", "prose"))


@view()
def samples(samples: Sequence[tuple[int, str]], *, most: int = 12, characters: int = 400) -> Figure:
    """(step, text) in steps' order: at most `most` steps even on a step axis, texts cut at `characters`."""
    shown = set(geometric([step for step, _ in samples], most))
    rows = tuple(
        (float(step), text if len(text) <= characters else text[:characters] + "…")
        for step, text in sorted(samples, key=lambda pair: pair[0])
        if step in shown
    )
    note = f"{len(rows):,} of {len(samples):,} samples shown." if len(rows) < len(samples) else ""
    return Figure("What it wrote", (Panel("Samples", (Table(COLUMNS, rows),)),), note=note)

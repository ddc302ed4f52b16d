"""A report: one HTML file that needs nothing else and asks for nothing.

Every figure stands in it as SVG, so that it can be read and printed without a script. Where the bundle is
built, the page carries its one script, named by hash in its policy, which draws the same figures again under
the reader's pointer.
"""

from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

import pandas as pd

from ontogeny import views
from ontogeny.errors import BadContract
from ontogeny.report import wording
from ontogeny.report.bundle import Bundle, built_bundle
from ontogeny.report.carried import Carried
from ontogeny.report.html import name, paragraph, table, text
from ontogeny.report.sections import last_finite, run_sections
from ontogeny.report.tables import RunTables
from ontogeny.report.theme import DARK, LIGHT, Theme
from ontogeny.store.files import write_file
from ontogeny.views.figure import Cell, Column, Table
from ontogeny.views.tables import claimed, words

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
#: Where the script finds what the page carries.
DATA = "ontogeny-data"
COMPARED = (
    Column("run", "name"),
    Column("grade"),
    Column("parameters"),
    Column("steps", "step"),
    Column("tokens"),
    Column("time"),
    Column("train loss"),
    Column("held-out loss"),
    Column("claims", "step"),
    Column("first", "prose"),
)


def write_report(
    path: str | Path,
    *,
    runs: Sequence[RunTables],
    static: bool = False,
    seeds: pd.DataFrame | None = None,
) -> Path:
    """Writes one self-contained HTML file about one or several runs and returns its path.

    Figures answer to the pointer where this installation has the script for it; with `static` they never do.
    `seeds` is what several runs say together (`detect.over_seeds`).

    Light and dark by the reader's setting, readable from 800 px up and in print. Everything that comes from
    a run is escaped. The file holds no date of its own: the same tables give the same bytes.

    Raises BadContract without runs.
    """
    if not runs:
        raise BadContract("a report needs a run", received="none", allowed="one or more RunTables")
    path = Path(path)
    write_file(path, report(runs, None if static else built_bundle(), seeds).encode("utf-8"))
    return path


def report(runs: Sequence[RunTables], bundle: Bundle | None = None, seeds: pd.DataFrame | None = None) -> str:
    """The page as text; with a bundle it carries its figures' numbers and the script that draws them."""
    several = len(runs) > 1
    carried = Carried()
    contents, bodies = [], []
    for index, run in enumerate(runs):
        listed, body = _run(run, f"run-{index + 1}", several, carried)
        contents.append(listed)
        bodies.append(body)
    top = _comparison(runs, seeds) if several else ""
    title = text(f"{len(runs)} runs" if several else runs[0].identity.get("name", "unnamed run"))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(bundle)}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{title} · ontogeny</title>'
        f"<style>{style()}{bundle.style if bundle else ''}</style></head><body>"
        f'<nav aria-label="contents"><p class="kicker">ontogeny</p>{"".join(contents)}</nav>'
        f"<main>{top}{''.join(bodies)}</main>{_script(carried, bundle)}</body></html>\n"
    )


def _run(run: RunTables, key: str, several: bool, carried: Carried) -> tuple[str, str]:
    """A run's entry in the contents, and its article."""
    title = name(run.identity.get("name", "unnamed run"))
    recipe = f'<p class="recipe">{name(run.identity["recipe"])}</p>' if run.identity.get("recipe") else ""
    sections = run_sections(run, key, carried.drawing)
    carried.run(key, run)
    level = f"<h1>{title}</h1>" if not several else f'<h1 class="of-several">{title}</h1>'
    body = "".join(section for _, _, section in sections)
    items = "".join(f'<li><a href="#{anchor}">{text(said)}</a></li>' for anchor, said, _ in sections)
    listed = (f'<a class="run" href="#{key}">{title}</a>' if several else "") + f"<ul>{items}</ul>"
    return listed, f'<article id="{key}"><header>{level}{recipe}</header>{body}</article>'


def _policy(bundle: Bundle | None) -> str:
    return POLICY if bundle is None else f"{POLICY}; script-src {bundle.hash}"


def _script(carried: Carried, bundle: Bundle | None) -> str:
    """The numbers, which are no script, and the script: last, so that it runs when all can be read."""
    if bundle is None:
        return ""
    data = f'<script type="text/plain" id="{DATA}">{carried.packed()}</script>'
    return f"{data}<script>{bundle.script}</script>"


@cache
def style() -> str:
    """The style sheet, with every drawing's colours for light and dark."""
    sheet = resources.files("ontogeny.report").joinpath("style.css").read_text(encoding="utf-8")
    dark = f"@media screen and (prefers-color-scheme: dark){{{_variables(DARK)}}}"
    return _variables(LIGHT) + dark + sheet


def _variables(theme: Theme) -> str:
    return ":root{" + "".join(f"--{key}:{colour};" for key, colour in theme.variables().items()) + "}"


def _comparison(runs: Sequence[RunTables], seeds: pd.DataFrame | None) -> str:
    rows = tuple(_compared(run) for run in runs)
    alone = "One run of each gives no p-value for their difference: that takes several seeds."
    said = paragraph(alone, "note") if seeds is None or seeds.empty else _over_seeds(seeds)
    listed = table(Table(COMPARED, rows))
    return f'<section id="comparison"><h1>{len(runs)} runs</h1>{listed}{said}</section>'


def _over_seeds(seeds: pd.DataFrame) -> str:
    """What runs of one configuration say together."""
    figure = views.seeds_table(seeds)
    listed = table(figure.table) if figure.table is not None and figure.table.rows else ""
    return f"<h2>Over seeds</h2>{listed}{paragraph(figure.note, 'note')}"


def _compared(run: RunTables) -> tuple[Cell, ...]:
    identity = run.identity
    found = claimed(run.transitions)
    first = found.sort_values("step", kind="stable").head(1) if len(found) else found
    said = [f"{words(str(row['part']))}, step {wording.count(row['step'])}" for _, row in first.iterrows()]
    steps = identity.get("steps")
    return (
        str(identity.get("name", "unnamed run")),
        str(identity.get("grade", "")),
        wording.rounded(identity.get("parameters")),
        None if steps is None else float(steps),
        wording.rounded(identity.get("tokens")),
        wording.duration(identity.get("seconds")),
        last_finite(run, "loss"),
        last_finite(run, "heldout_loss"),
        float(len(found)),
        said[0] if said else "",
    )

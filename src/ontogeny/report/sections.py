"""What a report says about one run, section by section."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ontogeny import views
from ontogeny.report import wording
from ontogeny.report.html import drawing, facts, name, paragraph, section, table, text
from ontogeny.report.tables import RunTables
from ontogeny.views.figure import Figure, Text
from ontogeny.views.tables import claimed, clearest, column, of_part, parts_over
from ontogeny.views.transition_table import VERDICTS

#: Claims written out one by one before the rest is left to the table.
MOST_SENTENCES = 5
MOST_GRIDS = 4
#: Writes a figure into the page.
Draw = Callable[[Figure], str]


def run_sections(run: RunTables, key: str, draw: Draw = drawing) -> list[tuple[str, str, str]]:
    """(anchor, title, HTML) of every section that has something to say, in reading order."""
    written = (
        ("about", "What this is", about(run)),
        ("audit", "Whether the checkpoints are what they say", audited(run)),
        ("formed", "What formed, and when", formed(run)),
        ("not-claimed", "Looked for, not claimed", not_claimed(run)),
        ("curves", "The curves", curves(run, draw)),
        ("heads", "Heads", heads(run, draw)),
        ("layers", "Layers", layers(run, draw)),
        ("matrices", "Matrices", matrices(run, draw)),
        ("samples", "What it wrote", samples(run)),
        ("misleads", "How these numbers mislead", misleads(run)),
        ("provenance", "Provenance", provenance(run)),
    )
    return [
        (f"{key}-{part}", title, section(f"{key}-{part}", title, body))
        for part, title, body in written
        if body
    ]


def about(run: RunTables) -> str:
    """Identity, cost, and how exactly the run can be repeated."""
    identity = run.identity
    grade = str(identity.get("grade", ""))
    disk = identity.get("disk") or {}
    pairs = [
        ("parameters", wording.count(identity.get("parameters"))),
        ("checkpoints", wording.count(identity.get("checkpoints"))),
        ("steps", wording.count(identity.get("steps"))),
        ("tokens", wording.count(identity.get("tokens"))),
        ("time", wording.duration(identity.get("seconds"))),
        ("attempts", wording.count(identity.get("attempts"))),
        ("on disk", wording.size(sum(disk.values()) if disk else None)),
        ("train loss", last_finite(run, "loss")),
        ("held-out loss", last_finite(run, "heldout_loss")),
    ]
    called, meaning = wording.GRADES.get(grade, ("not graded", "The first steps were not repeated."))
    reason = wording.as_sentence(str(identity.get("grade_reason") or "")) or meaning
    badge = f'<span class="grade" aria-hidden="true">{text(grade or "–")}</span>'
    said = f"<strong>{text(f'Grade {grade}, {called}.' if grade else 'Not graded.')}</strong> {text(reason)}"
    graded = f'<p class="graded">{badge}<span>{said}</span></p>'
    return facts((term, text(value)) for term, value in pairs) + graded


def audited(run: RunTables) -> str:
    """What a look at the checkpoints found before they were measured, gravest first."""
    if run.audit is None:
        return ""
    items = "".join(
        f"<li><strong>{text(one.severity)}: {text(one.kind)}.</strong> {name(one.seen)} "
        f"<em>May mean:</em> {text(one.meaning)}.</li>"
        for one in run.audit.found
    )
    looked = paragraph(f"Looked at {'; '.join(run.audit.looked_at)}.", "note")
    found = f'<ul class="findings">{items}</ul>' if items else paragraph("Nothing was found.")
    return found + looked


def last_finite(run: RunTables, metric: str) -> str:
    """The last finite value of a telemetry metric in steps' order."""
    table_ = run.telemetry.sort_values("step", kind="stable") if "step" in run.telemetry else run.telemetry
    values = column(table_, metric)
    values = values[np.isfinite(values)]
    return f"{values[-1]:.3f}" if values.size else wording.MISSING


def formed(run: RunTables) -> str:
    """A sentence for a handful of claims, one a part and stimulus, then the table of all."""
    found = claimed(run.transitions)
    if found.empty:
        looked = len(run.transitions)
        if not looked:
            return paragraph(
                "No detector was run on this run's rows, so nothing can be said about transitions."
            )
        return paragraph(f"Nothing is claimed: of {looked:,} series looked at, none shows a transition.")
    items = []
    for _, row in clearest(run.transitions, MOST_SENTENCES).iterrows():
        lead, what, rest = wording.sentence(row)
        items.append(f"<li>{text(lead)}<strong>{name(what)}</strong>{text(rest)}</li>")
    more = len(found) - len(items)
    rest = paragraph(f"{more:,} further claims are in the table only.", "note") if more > 0 else ""
    shown = views.transition_table(run.transitions, verdicts=("transition",))
    return f'<ol class="findings">{"".join(items)}</ol>{rest}{_tabled(shown)}{paragraph(shown.note, "note")}'


def _tabled(figure: Figure) -> str:
    return table(figure.table) if figure.table is not None else ""


def not_claimed(run: RunTables) -> str:
    """The honest rest: every series that was looked at without a claim, with the reason."""
    figure = views.not_found(run.transitions)
    if figure.table is None or not figure.table.rows:
        return ""
    used = {str(verdict) for verdict in run.transitions["verdict"].unique()} - {"transition"}
    meaning = facts((verdict, text(wording.VERDICTS.get(verdict, ""))) for verdict in sorted(used))
    rest = [verdict for verdict in VERDICTS if verdict != "transition"]
    whole = _tabled(views.transition_table(run.transitions, verdicts=rest))
    details = f"<details><summary>Every one of them, with its whole reason</summary>{whole}</details>"
    return paragraph(figure.note) + meaning.replace("facts", "verdicts", 1) + _tabled(figure) + details


def curves(run: RunTables, draw: Draw = drawing) -> str:
    """Loss and optimizer."""
    if run.telemetry.empty:
        return ""
    loss = views.learning_curve(run.telemetry, run.rows, run.transitions)
    return draw(loss) + _unless_empty(views.optimizer_health(run.telemetry), draw)


def _unless_empty(figure: Figure, draw: Draw) -> str:
    empty = all(isinstance(mark, Text) for panel in figure.panels for mark in panel.marks)
    return "" if empty else draw(figure)


def heads(run: RunTables, draw: Draw = drawing) -> str:
    """Every head over time; the grid for parts with a claim, or for the first part if there is none."""
    known = parts_over(run.rows, "head")
    if not known:
        return ""
    found = [part for part in known if len(claimed(of_part(run.transitions, part)))]
    grids = [
        views.head_grid(run.rows, run.transitions, part=part) for part in (found or known[:1])[:MOST_GRIDS]
    ]
    timeline = views.head_timeline(run.rows, run.transitions)
    drawn = "".join(_unless_empty(grid, draw) for grid in grids)
    # The page's script puts every head at every step in place of the grids of a few.
    return f'{draw(timeline)}<div class="grids">{drawn}</div>'


def layers(run: RunTables, draw: Draw = drawing) -> str:
    """Residual stream, layer by step."""
    return _unless_empty(views.layer_by_step(run.rows, run.transitions), draw)


def matrices(run: RunTables, draw: Draw = drawing) -> str:
    """Spectra of the weights."""
    return _unless_empty(views.spectra_over_time(run.rows), draw)


def samples(run: RunTables) -> str:
    """Text at checkpoints, white space kept."""
    figure = views.samples(run.samples)
    if figure.table is None or not figure.table.rows:
        return ""
    written = "".join(
        f"<div><dt>step {text(wording.count(step))}</dt><dd><pre>{name(wrote)}</pre></dd></div>"
        for step, wrote in figure.table.rows
    )
    return f'<dl class="samples">{written}</dl>{paragraph(figure.note, "note")}'


def misleads(run: RunTables) -> str:
    """From the docstrings: what each part means, and what can be wrong about reading it."""
    items = "".join(
        f"<div><dt><code>{name(part)}</code>{_unit(note.unit)}</dt>"
        f"<dd>{text(note.meaning)} {_warning(note.misleads)}</dd></div>"
        for part, note in run.parts.items()
    )
    return f'<dl class="notes">{items}</dl>' if items else ""


def _unit(unit: str) -> str:
    return f' <span class="unit">{text(unit)}</span>' if unit else ""


def _warning(misleads_: str) -> str:
    return f"<em>Misleads:</em> {text(misleads_)}" if misleads_ else ""


def provenance(run: RunTables) -> str:
    """What is needed to find or repeat the run."""
    identity = run.identity
    pairs = [(term, identity.get(term)) for term in ("recipe", "hash", "created", "command")]
    written = [(term, f"<code>{name(value)}</code>") for term, value in pairs if value]
    written += [
        (f"source {term}", f"<code>{name(value)}</code>") for term, value in _items(identity, "sources")
    ]
    written += [(term, name(value)) for term, value in _items(identity, "environment")]
    written += [(f"disk, {term}", text(wording.size(value))) for term, value in _items(identity, "disk")]
    if "status" in run.rows:
        lost = run.rows.loc[run.rows["status"] != "ok", "status"].value_counts()
        said = ", ".join(f"{count:,} {status}" for status, count in lost.items()) or "none"
        written += [("rows measured", f"{len(run.rows):,}"), ("rows without a number", text(said))]
    return facts(written, "provenance")


def _items(identity: Mapping[str, Any], key: str) -> list[tuple[str, Any]]:
    return list((identity.get(key) or {}).items())

"""Pieces of a page. Whatever comes from outside is escaped here and nowhere else."""

import html
import unicodedata
from collections.abc import Iterable, Sequence

from ontogeny.report import wording
from ontogeny.report.draw import draw
from ontogeny.views.figure import Cell, Column, Figure, Table

#: Kinds of column whose cells are numbers: right-aligned, digits of one width.
NUMERIC = ("step", "number", "probability", "interval")


def text(value: object) -> str:
    """Escaped text; control characters become visible, line breaks and tabs stay."""
    shown = "".join(
        "\ufffd" if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" else c for c in str(value)
    )
    return html.escape(shown, quote=True)


def name(value: object) -> str:
    """A name somebody else chose: escaped, and its writing direction kept to itself."""
    return f"<bdi>{text(value)}</bdi>"


def section(key: str, title: str, *pieces: str) -> str:
    """A section with an anchor; nothing if it would be empty."""
    body = "".join(piece for piece in pieces if piece)
    return f'<section id="{text(key)}"><h2>{text(title)}</h2>{body}</section>' if body else ""


def paragraph(words: str, kind: str = "") -> str:
    """Escaped words as a paragraph."""
    return f"<p{_class(kind)}>{text(words)}</p>" if words else ""


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def drawing(figure: Figure, *, heading: bool = True, number: int | None = None) -> str:
    """A figure with its title above and its note below; `number` is what a page's script knows it by."""
    title = f"<h3>{text(figure.title)}</h3>" if heading else ""
    note = f"<figcaption>{text(figure.note)}</figcaption>" if figure.note else ""
    known = "" if number is None else f' data-figure="{number}"'
    svg = draw(figure, theme="page", title=False)
    return f'<figure{known}>{title}<div class="drawing">{svg}</div>{note}</figure>'


def facts(pairs: Iterable[tuple[str, str]], kind: str = "facts") -> str:
    """Names and (already escaped) values, as a description list."""
    items = "".join(f"<div><dt>{text(term)}</dt><dd>{value}</dd></div>" for term, value in pairs)
    return f'<dl class="{kind}">{items}</dl>' if items else ""


def table(found: Table) -> str:
    """A table; columns without a single cell are left out."""
    kept = [
        index
        for index in range(len(found.columns))
        if any(row[index] not in (None, "") for row in found.rows)
    ]
    if not found.rows:
        return ""
    columns = [found.columns[index] for index in kept]
    head = "".join(f'<th scope="col"{_class(_kind(column))}>{text(column.title)}</th>' for column in columns)
    body = "".join(_table_row(columns, [row[index] for index in kept]) for row in found.rows)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _kind(column: Column) -> str:
    return "numeric" if column.kind in NUMERIC else column.kind


def _table_row(columns: Sequence[Column], cells: Sequence[Cell]) -> str:
    written = (
        f"<td{_class(_kind(column))}>{_cell(column, value)}</td>"
        for column, value in zip(columns, cells, strict=True)
    )
    return f"<tr>{''.join(written)}</tr>"


def _cell(column: Column, value: Cell) -> str:
    if column.kind == "interval":
        return text(wording.interval(value if isinstance(value, tuple) else None))
    if column.kind in ("step", "number", "probability"):
        write = {"step": wording.count, "number": wording.number, "probability": wording.probability}
        return text(write[column.kind](value))
    if value in (None, ""):
        return wording.MISSING
    return name(value) if column.kind in ("name", "prose") else text(value)

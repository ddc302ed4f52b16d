"""A view of a run by its name, as a notebook and the command line ask for it."""

from dataclasses import fields
from typing import Any

from ontogeny.catalogue import part
from ontogeny.errors import BadArgument, UnknownName
from ontogeny.report.tables import RunTables
from ontogeny.views.figure import Figure


def figure_of(tables: RunTables, view: str, parameters: dict[str, Any] | None = None) -> Figure:
    """The figure that a view part makes of a run's tables; texts are read as the parameter's default is.

    Raises UnknownName for another view or parameter, BadArgument for a value that cannot be read.
    """
    made, chosen = part("view", view), {}
    for name, value in (parameters or {}).items():
        if name not in made.parameters:
            raise UnknownName(f"parameter of the view {view!r}", name, made.parameters)
        chosen[name] = _typed(made.parameters[name], name, value) if isinstance(value, str) else value
    held = {field.name: getattr(tables, field.name) for field in fields(tables)}
    if missing := set(made.needs) - set(held):
        raise BadArgument(
            f"the view {view!r} is of more than one run", received=f"a run, which has no {min(missing)}"
        )
    return made.make(*(held[need] for need in made.needs), **chosen)


def _typed(default: Any, name: str, text: str) -> Any:
    if isinstance(default, tuple):
        words = tuple(word for word in text.split(",") if word)
        return tuple(map(int, words)) if all(word.isdecimal() for word in words) else words
    if isinstance(default, str) or default is None:
        return text
    try:
        return type(default)(text)
    except (TypeError, ValueError) as error:
        raise BadArgument(f"{name} cannot be read", received=text, allowed=f"such as {default!r}") from error

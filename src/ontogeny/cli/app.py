"""The command line itself, and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="ontogeny",
    help="The laboratory for the training dynamics of neural networks.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Paths = Annotated[
    list[Path],
    typer.Argument(help="Runs, folders of runs, folders of checkpoints, checkpoints, hub:OWNER/NAME."),
]
Home = Annotated[
    Path | None,
    typer.Option("--home", help="Where rows are, for checkpoints that are no run."),
]
Pattern = Annotated[
    str | None, typer.Option(help="How checkpoints are named, e.g. 'step{step}-tokens{tokens}B'.")
]
Pickle = Annotated[
    bool, typer.Option("--pickle", help="Open files that hold a pickle, in a process of their own.")
]
Workers = Annotated[int, typer.Option(help="Processes, one thread each.")]
Engine = Annotated[str, typer.Option(help="Where the workers are: local, or ray.")]


def names_of(parts: str) -> list[str]:
    """Words separated by commas."""
    return [name for name in parts.replace(" ", "").split(",") if name]

"""`ontogeny …`: commands, and what a user sees when something is wrong.

Stages import torch, which takes seconds; the commands import them when they run, so that `--help` and
completion answer at once.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ontogeny.errors import OntogenyError

app = typer.Typer(
    name="ontogeny",
    help="The laboratory for the training dynamics of neural networks.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Paths = Annotated[list[Path], typer.Argument(help="Runs, folders of runs, or folders of checkpoints.")]
Parts = Annotated[str, typer.Option(help="Parts to use, separated by commas; all if left out.")]


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the demo's runs go.")] = Path("runs/demo"),
) -> None:
    """Train a small language model and an induction task, measure both, report what formed and when."""
    from ontogeny.cli.demo import demo as start

    start(out)


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help="A shipped recipe's name, or a TOML file.")],
    out: Annotated[Path | None, typer.Option(help="The run's folder [runs/NAME].")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE, e.g. optimizer.lr=3e-4.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Short for --set training.seed=SEED.")] = None,
    grade: Annotated[bool, typer.Option(help="Repeat the first steps in a fresh process.")] = True,
) -> None:
    """Train a recipe and record it."""
    from ontogeny.cli.stages import train_recipe

    seeds = [] if seed is None else [f"training.seed={seed}"]
    train_recipe(recipe, out, [*(set_ or []), *seeds], grade)


@app.command()
def measure(
    paths: Paths,
    parts: Parts = "",
    workers: Annotated[int, typer.Option(help="Processes, one thread each.")] = 1,
    text: Annotated[Path | None, typer.Option(help="Natural text for checkpoints that name no data.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where rows go, for checkpoints that are no run.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what would be done and cost; do nothing.")
    ] = False,
) -> None:
    """Measure every checkpoint with every part; what is measured already is left alone."""
    from ontogeny.cli.stages import explain_measuring, measure_series

    names = _names(parts)
    for path in paths:
        explain_measuring(path, names, text) if explain else measure_series(path, names, workers, text, out)


@app.command()
def detect(
    paths: Paths,
    parts: Parts = "",
    detector: Annotated[str, typer.Option(help="Which detector.")] = "half_rise",
    out: Annotated[Path | None, typer.Option(help="Where rows are, for checkpoints that are no run.")] = None,
) -> None:
    """Say when each measured number changed, held against its null."""
    from ontogeny.cli.stages import detect_in

    for path in paths:
        detect_in(path, _names(parts), detector, out)


@app.command()
def report(
    paths: Paths,
    out: Annotated[Path, typer.Option(help="The HTML file.")] = Path("report.html"),
) -> None:
    """Write one self-contained HTML file about runs."""
    from ontogeny.cli.stages import write_runs_report

    write_runs_report(paths, out)


@app.command()
def show(path: Annotated[Path, typer.Argument(help="A run, or a folder of runs.")] = Path("runs")) -> None:
    """List runs, or tell what one run holds."""
    from ontogeny.cli.show import show_path

    show_path(path)


@app.command()
def parts(kind: Annotated[str, typer.Argument(help="A kind of part; all kinds if left out.")] = "") -> None:
    """List the catalogue: what can be measured, learned from, shown."""
    from ontogeny.cli.show import show_parts

    show_parts(kind)


@app.command()
def recipes() -> None:
    """List the shipped recipes."""
    from ontogeny.cli.show import show_recipes

    show_recipes()


@app.command()
def verify(paths: Paths) -> None:
    """Check every file of runs against its checksums; damage is named, and the exit status is 1."""
    from ontogeny.cli.show import verify_paths

    if verify_paths(paths):
        raise typer.Exit(1)


@app.command()
def doctor() -> None:
    """Say what this machine can do, and what is missing."""
    from ontogeny.cli.doctor import examine

    if not examine():
        raise typer.Exit(1)


def _names(parts: str) -> list[str]:
    return [name for name in parts.replace(" ", "").split(",") if name]


def main() -> None:
    """Run the command line; an error is four plain lines and exit status 2, an interruption 130."""
    try:
        app()
    except OntogenyError as error:
        print(f"ontogeny: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("\nontogeny: interrupted; what was written is whole and can be read", file=sys.stderr)
        sys.exit(130)

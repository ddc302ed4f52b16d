"""`ontogeny …`: commands, and what a user sees when something is wrong.

Stages import torch, which takes seconds; the commands import them when they run, so that `--help` and
completion answer at once.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ontogeny.cli import looking
from ontogeny.cli.app import Engine, Home, Pattern, Pickle, Workers, app
from ontogeny.errors import OntogenyError

__all__ = ["app", "looking", "main"]


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the demo's runs go.")] = Path("runs/demo"),
) -> None:
    """Train a small language model and an induction task, measure both, report what formed and when."""
    from ontogeny.cli.demo import demo as start

    start(out)


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help="A shipped recipe's name, or a TOML file.")] = "",
    out: Annotated[Path | None, typer.Option(help="The run's folder [runs/NAME].")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE, e.g. optimizer.lr=3e-4.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Short for --set training.seed=SEED.")] = None,
    grade: Annotated[bool, typer.Option(help="Repeat the first steps in a fresh process.")] = True,
    resume: Annotated[Path | None, typer.Option(help="A stopped or killed run to take up again.")] = None,
    seeds: Annotated[str, typer.Option(help="Many runs, in OUT/seed-N: 0:10, or 3,5,8.")] = "",
    workers: Workers = 1,
    engine: Engine = "local",
) -> None:
    """Train a recipe and record it, under one seed or many; or take a stopped run up again."""
    from ontogeny.cli.stages import resume_run, train_recipe

    if bool(recipe) == bool(resume):
        raise typer.BadParameter("give a recipe, or --resume RUN")
    if resume:
        resume_run(resume)
        return
    if seeds:
        from ontogeny.cli.sweep import train_seeds

        if seed is not None:
            raise typer.BadParameter("give --seed or --seeds")
        if not train_seeds(recipe, seeds, out, set_ or [], grade, workers, engine):
            raise typer.Exit(1)
        return
    one = [] if seed is None else [f"training.seed={seed}"]
    train_recipe(recipe, out, [*(set_ or []), *one], grade)


@app.command()
def sweep(
    grid: Annotated[Path, typer.Argument(help="A TOML file: recipe, seeds, and [grid] with lists.")],
    out: Annotated[Path | None, typer.Option(help="The folder of the runs [runs/NAME].")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE, for all runs.")] = None,
    grade: Annotated[bool, typer.Option(help="Repeat each run's first steps in a fresh process.")] = True,
    workers: Workers = 1,
    engine: Engine = "local",
    measure: Annotated[bool, typer.Option("--measure", help="Measure the finished runs, too.")] = False,
) -> None:
    """Train every combination of a grid; the same command goes on with an interrupted sweep."""
    from ontogeny.cli.sweep import sweep_grid

    if not sweep_grid(grid, out, set_ or [], grade, workers, engine, measure):
        raise typer.Exit(1)


@app.command()
def replay(
    run: Annotated[Path, typer.Argument(help="A run of a recipe.")],
    to: Annotated[int, typer.Option(help="The step to re-enter.")],
    from_start: Annotated[
        bool, typer.Option("--from-start", help="Not from the nearest checkpoint.")
    ] = False,
    statistical: Annotated[bool, typer.Option("--statistical", help="Go on where bits differ.")] = False,
) -> None:
    """Re-enter a run at a step, comparing the model's digest at every step on the way."""
    from ontogeny.cli.family import replay_run

    replay_run(run, to, from_start, statistical)


@app.command()
def thin(
    run: Annotated[Path, typer.Argument(help="A run of a recipe.")],
    keep: Annotated[int, typer.Option(help="How many checkpoints are left.")],
) -> None:
    """Drop checkpoints that replay can restore; each is restored and compared first."""
    from ontogeny.cli.family import thin_run

    thin_run(run, keep)


@app.command()
def materialise(
    run: Annotated[Path, typer.Argument(help="A run of a recipe.")],
    steps: Annotated[str, typer.Argument(help="FIRST:LAST, both included.")],
) -> None:
    """Write a checkpoint of every step of an interval."""
    from ontogeny.cli.family import materialise_run

    materialise_run(run, steps)


@app.command()
def branch(
    run: Annotated[Path, typer.Argument(help="The run to begin from.")],
    at: Annotated[int, typer.Option(help="The step at which the branch leaves.")],
    out: Annotated[Path, typer.Option(help="The branch's folder.")],
    apply: Annotated[
        list[str] | None, typer.Option(help="e.g. 'weight_decay(value=0)'; may be repeated.")
    ] = None,
    end: Annotated[int | None, typer.Option(help="The step from which it acts no more.")] = None,
    until: Annotated[int | None, typer.Option(help="The last step [the run's own].")] = None,
    sham: Annotated[bool, typer.Option("--sham", help="The same path without effect.")] = False,
) -> None:
    """Send a run down another road from one of its steps; the cause is the only difference."""
    from ontogeny.cli.family import branch_run

    branch_run(run, at, apply or [], end, until, out, sham)


@app.command()
def tree(path: Annotated[Path, typer.Argument(help="A folder of runs.")] = Path("runs")) -> None:
    """Draw which run was branched from which, and where."""
    from ontogeny.cli.family import show_tree

    show_tree(path)


@app.command()
def audit(
    paths: Annotated[
        list[str], typer.Argument(help="Runs, folders of checkpoints or of results, hub:OWNER/NAME.")
    ],
    pattern: Pattern = None,
    quick: Annotated[bool, typer.Option("--quick", help="Hashes and steps only.")] = False,
    out: Annotated[Path | None, typer.Option(help="A JSON file for the findings.")] = None,
    pickle: Pickle = False,
) -> None:
    """Say whether checkpoints and results are what their names say; the exit status is 1 if not."""
    from ontogeny.cli.audit import audit_paths

    if not audit_paths(paths, pattern, quick, out, pickle):
        raise typer.Exit(1)


@app.command("audit-items")
def audit_items(
    before: Annotated[
        Path, typer.Argument(help="One model's item scores: a file (.jsonl, .csv) or a folder.")
    ],
    after: Annotated[Path, typer.Argument(help="The other's. Files of one folder are replicates.")],
    metric: Annotated[str | None, typer.Option(help="Which score, where there are several.")] = None,
    threshold: Annotated[float, typer.Option(help="An answer is right from this score.")] = 0.5,
    alpha: Annotated[float, typer.Option(help="The share of false claims one will bear.")] = 0.05,
    out: Annotated[Path | None, typer.Option(help="A CSV file for all items.")] = None,
) -> None:
    """Say which problems a model gained and lost against another, and how many of these are noise."""
    from ontogeny.cli.audit_items import audit_item_files

    audit_item_files(before, after, metric, threshold, alpha, out)


@app.command()
def show(
    path: Annotated[
        Path, typer.Argument(help="A run, a folder of runs, or checkpoints that others trained.")
    ] = Path("runs"),
    home: Home = None,
    pattern: Pattern = None,
) -> None:
    """List runs, or tell what one run, or a series of checkpoints, holds."""
    from ontogeny.cli.show import show_path

    show_path(path, home, pattern)


@app.command()
def dashboard(
    path: Annotated[Path, typer.Argument(help="A run, a folder of runs, or a measured series.")] = Path(
        "runs"
    ),
    port: Annotated[int | None, typer.Option(help="0 for any free one [from 8321 up].")] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Show runs in a local page, live while they train; nothing is written into a run."""
    from ontogeny.cli.dashboard import show_dashboard

    show_dashboard(path, port, browser)


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
def verify(
    paths: Annotated[list[Path], typer.Argument(help="Runs, or folders of runs.")],
) -> None:
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

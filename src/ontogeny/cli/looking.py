"""Commands that look at what was trained: measure, detect, compare, report."""

from pathlib import Path
from typing import Annotated

import typer

from ontogeny.cli.app import Engine, Home, Paths, Pattern, Pickle, Workers, app, names_of


@app.command()
def measure(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Runs, folders of runs, folders of checkpoints, checkpoints, hub:OWNER/NAME."),
    ],
    parts: Annotated[
        str,
        typer.Option(
            "--parts",
            "--instruments",
            help="Names, families ('heads.*'), patterns, or calls (\"cka(variant='biased')\"), with commas.",
        ),
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="The whole catalogue, trials and fits too.")] = False,
    budget: Annotated[
        str, typer.Option(help="Work on the whole series in one thread, e.g. 15min; the cheapest first.")
    ] = "",
    workers: Workers = 1,
    engine: Engine = "local",
    text: Annotated[Path | None, typer.Option(help="Natural text for checkpoints that name no data.")] = None,
    out: Annotated[
        Path | None, typer.Option("--home", "--out", help="Where rows go, for checkpoints that are no run.")
    ] = None,
    pattern: Pattern = None,
    tokens_per_step: Annotated[
        float | None, typer.Option(help="Tokens in one step, for checkpoints that do not say.")
    ] = None,
    pickle: Pickle = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what would be done and cost; do nothing.")
    ] = False,
) -> None:
    """Measure every checkpoint with every part; what is measured already is left alone."""
    from ontogeny.cli.measuring import How, explain_measuring, measure_series
    from ontogeny.cli.stages import series_below

    how = How.of(parts, every, budget, workers, engine, text)
    whole = True
    for path in paths:
        opened = series_below(path, out, pattern, tokens_per_step, pickle)
        if explain:
            explain_measuring(opened, how)
        else:
            whole = measure_series(opened, how) and whole
    if not whole:
        raise typer.Exit(1)


@app.command()
def detect(
    paths: Paths,
    parts: Annotated[
        str, typer.Option(help="Parts, and telemetry as metric:NAME, with commas; all parts if left out.")
    ] = "",
    detector: Annotated[str, typer.Option(help="A detector, or a call: 'pelt(penalty=2)' [half_rise].")] = "",
    null: Annotated[
        str,
        typer.Option(
            help="For numbers without a null of their own, one of series: autoregressive, trend_matched …; "
            "default is the detector's own. [none; with --detector, default]"
        ),
    ] = "",
    least: Annotated[
        str,
        typer.Option(help="The least size worth telling: 0.1, or by part or unit: nats=0.2,induction=0.1."),
    ] = "",
    correction: Annotated[str, typer.Option(help="How q is made of p over parts: bh, by.")] = "bh",
    seeds: Annotated[
        bool | None, typer.Option(help="Hold runs of one configuration together. [where there are several]")
    ] = None,
    by: Annotated[
        str, typer.Option(help="Over seeds: each run's own best place, or the same place: best, place.")
    ] = "best",
    control: Annotated[
        list[Path] | None, typer.Option(help="Runs in which it should not be seen; may be repeated.")
    ] = None,
    lead: Annotated[
        list[str] | None, typer.Option(help="FIRST,SECOND: how much earlier the first part changed.")
    ] = None,
    home: Annotated[
        Path | None, typer.Option("--home", "--out", help="Where rows are, for checkpoints that are no run.")
    ] = None,
) -> None:
    """Say when each measured number changed, held against its null; over seeds, too; and in what order."""
    from ontogeny.cli.detecting import Asked, detect_in

    rest = {"by": by, "together": seeds, "controls": control or [], "home": home}
    detect_in(paths, Asked.of(detector, null, least, correction, lead or [], parts=names_of(parts), **rest))


@app.command()
def compare(
    paths: Paths,
    groups: Annotated[
        bool, typer.Option("--groups", help="Every path is a group of runs, paired by seed.")
    ] = False,
    metrics: Annotated[str, typer.Option(help="Telemetry beside the losses, separated by commas.")] = "",
    passes: Annotated[bool, typer.Option(help="Run the models: CKA and loss barriers.")] = True,
    text: Annotated[Path | None, typer.Option(help="Natural text for checkpoints that name no data.")] = None,
    pattern: Pattern = None,
    pickle: Pickle = False,
) -> None:
    """Say where runs part from the first, by how much, and whether they end in one valley."""
    from ontogeny.cli.compare import compare_paths

    compare_paths(paths, groups, names_of(metrics), passes, text, pattern, pickle)


@app.command()
def report(
    paths: Paths,
    out: Annotated[Path, typer.Option(help="The HTML file.")] = Path("report.html"),
    home: Home = None,
    static: Annotated[bool, typer.Option("--static", help="Without a script.")] = False,
) -> None:
    """Write one self-contained HTML file about runs, or about checkpoints that were measured."""
    from ontogeny.cli.stages import write_runs_report

    write_runs_report(paths, out, home, static)


@app.command()
def figure(
    path: Annotated[Path, typer.Argument(help="A run, or checkpoints that were measured.")],
    view: Annotated[str, typer.Argument(help="A view; `ontogeny parts view` lists them.")],
    out: Annotated[Path, typer.Option(help="A .pdf, .svg, .png or .json file; .csv of a table.")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE of the view, e.g. part=induction.")
    ] = None,
    width: Annotated[float, typer.Option(help="Millimetres.")] = 240.0,
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    home: Home = None,
) -> None:
    """Write one figure for print, from the view that pages show."""
    from ontogeny.cli.stages import write_figure

    write_figure(path, view, out, set_ or [], width, theme, home)

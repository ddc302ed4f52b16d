"""What is there: runs, parts, recipes; and whether it is whole."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ontogeny.catalogue import KINDS
from ontogeny.catalogue import parts as parts_of
from ontogeny.recipes import shipped
from ontogeny.record.recipe import load_recipe
from ontogeny.store.collection import Runs, open_runs
from ontogeny.store.rows import read_rows
from ontogeny.store.run import MANIFEST, Run

console = Console(highlight=False)
#: Where runs are looked for if nothing is said.
RUNS = Path("runs")


def show_path(path: Path, home: Path | None = None, pattern: str | None = None) -> None:
    """`ontogeny show`: one run in full, a line for each run of a folder, or checkpoints that are no run."""
    if (path / MANIFEST).exists():
        show_run(Run.open(path))
        return
    if not any(path.glob(f"*/{MANIFEST}")) and path != RUNS:
        show_series(path, home, pattern)
        return
    found = Runs.open(path).summary()
    formed = [name for name in map(str, found) if name.startswith("formed/")]
    table = Table("run", "title", "steps", "loss", "held out", "outcome", "grade", "claimed to have formed")
    for row in found.to_dict("records"):
        claims = [
            f"{name.removeprefix('formed/')} {row[name]:.0f}" for name in formed if row[name] == row[name]
        ]
        numbers = [_short(row.get(name)) for name in ("steps", "loss", "heldout_loss")]
        words = [str(row.get(name, "")) for name in ("outcome", "grade")]
        table.add_row(str(row["run"]), str(row.get("title", "")), *numbers, *words, ", ".join(claims))
    console.print(table)


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) and value == value else ""


def show_run(run: Run) -> None:
    """Identity, what was recorded, what was measured, what formed."""
    identity, checkpoints = run.identity, run.checkpoints
    console.print(f"{run.path}  {identity.get('title', '')}")
    reason = identity.get("grade", {}).get("reason", "")
    console.print(f"  {run.outcome}, {run.attempts} attempt(s), grade {run.grade}: {reason}")
    console.print(f"  {identity.get('parameters', '?'):,} parameters; {len(checkpoints)} checkpoints", end="")
    console.print(f", steps {checkpoints[0].step} to {checkpoints[-1].step}" if checkpoints else "")
    sizes = ", ".join(f"{kind} {size / 1e6:.1f} MB" for kind, size in run.disk_bytes().items() if size)
    console.print(f"  on disk: {sizes}")
    telemetry = run.telemetry()
    names = [name for name in telemetry.columns if name not in ("step", "attempt", "seconds")]
    console.print(f"  telemetry: {', '.join(names)}")
    rows = run.table()
    measured = sorted(set(rows["part"]))
    console.print(f"  measured: {', '.join(measured) or 'nothing yet'} ({len(rows):,} rows)")
    if len(run.transitions):
        from ontogeny.cli.findings import print_transitions  # stages import torch; most of `show` does not

        print_transitions(run.name, run.transitions)


def show_series(path: Path, home: Path | None, pattern: str | None) -> None:
    """Checkpoints that are no run: which there are, what was measured on them, what is wrong with them."""
    from ontogeny.cli.findings import print_errors, print_transitions  # these import torch; the rest does not
    from ontogeny.report.gather import series_tables
    from ontogeny.series import Series

    series = Series.open(path, home, pattern=pattern)
    first, last = series.checkpoints[0], series.checkpoints[-1]
    console.print(f"{path}  checkpoints of others", markup=False)
    console.print(f"  {len(series.checkpoints)} checkpoints, steps {first.step} to {last.step}", end="")
    console.print(f" ({first.label} to {last.label})", markup=False)
    for note in series.notes:
        console.print(f"  note: {note}", markup=False)
    if read_rows(series.home).empty:
        console.print(f"  measured: nothing yet; rows would go to {series.home}", markup=False)
        return
    tables = series_tables(path, series.home)
    parts = ", ".join(sorted(set(tables.rows["part"])))
    console.print(f"  measured: {parts} ({len(tables.rows):,} rows in {series.home})", markup=False)
    print_errors(series.home)
    if len(tables.transitions):
        print_transitions(series.name, tables.transitions)


def show_parts(kind: str) -> None:
    """`ontogeny parts`."""
    for one in [kind] if kind else KINDS:
        found = parts_of(one)
        if not found:
            continue
        table = Table("name", "meaning", "unit", "needs", title=f"{one}: {KINDS[one]}", title_justify="left")
        for name, made in found.items():
            table.add_row(name, made.meaning, made.unit, ", ".join(made.needs))
        console.print(table)


def show_recipes() -> None:
    """`ontogeny recipes`."""
    table = Table("recipe", "title", "steps", "what to expect")
    for name in shipped():
        recipe = load_recipe(name)
        table.add_row(name, recipe.title, str(recipe.training.steps), " ".join(recipe.expected.split()))
    console.print(table)


def verify_paths(paths: Sequence[Path]) -> int:
    """`ontogeny verify`: prints all damage; returns how much there was."""
    total = 0
    for run in [run for path in paths for run in open_runs(path)]:
        damage = run.verify()
        total += len(damage)
        for one in damage:
            console.print(f"{run.path}: {one}")
        if not damage:
            console.print(
                f"{run.path}: whole ({len(run.checkpoints)} checkpoints, {run.attempts} attempt(s))"
            )
    return total

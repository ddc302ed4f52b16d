"""Replaying, thinning and branching from the command line; the family a branch belongs to."""

from pathlib import Path

import torch
from rich.tree import Tree

from ontogeny.branch import branch, family
from ontogeny.cli.stages import bars, console
from ontogeny.errors import BadContract, NotARun
from ontogeny.replay import at, materialise, thin
from ontogeny.store.run import Run


def replay_run(path: Path, step: int, from_start: bool, statistical: bool) -> None:
    """`ontogeny replay`."""
    torch.set_num_threads(1)
    run = Run.open(path)
    start = run.checkpoints[0] if from_start else None
    with bars() as progress:
        task = progress.add_task(f"replay {run.name}", total=None, note="")
        found = at(
            run,
            step,
            statistical=statistical,
            start=start,
            visit=lambda training: progress.update(task, completed=training.state["counters"].step),
        )
    if found.exact:
        console.print(
            f"{path}: step {found.step} re-entered from step {found.start}; {found.compared} digests equal"
        )
    else:
        console.print(f"{path}: step {found.step} reached; the first difference is at {found.difference}")


def thin_run(path: Path, keep: int) -> None:
    """`ontogeny thin`."""
    torch.set_num_threads(1)
    run = Run.open(path)
    before = run.disk_bytes()["checkpoints"]
    with bars() as progress:
        task = progress.add_task(f"thin {run.name}", total=None, note="checkpoints dropped")
        dropped = thin(run, keep, done=lambda step: progress.advance(task))
    after = run.disk_bytes()["checkpoints"]
    console.print(
        f"{path}: {len(dropped)} checkpoints dropped, each restored by replay and compared first; "
        f"{len(run.checkpoints)} left; {before / 1e6:.1f} MB are now {after / 1e6:.1f} MB"
    )


def materialise_run(path: Path, steps: str) -> None:
    """`ontogeny materialise`."""
    torch.set_num_threads(1)
    first, colon, last = steps.partition(":")
    if not colon or not first.isdigit() or not last.isdigit() or int(first) > int(last):
        raise BadContract("an interval of steps that cannot be read", received=steps, allowed="FIRST:LAST")
    written = materialise(Run.open(path), int(first), int(last))
    console.print(f"{path}: {len(written)} checkpoints written")


def branch_run(
    path: Path, step: int, apply: list[str], end: int | None, until: int | None, out: Path, sham: bool
) -> None:
    """`ontogeny branch`."""
    torch.set_num_threads(1)
    with bars() as progress:
        task = progress.add_task(out.name, total=until, completed=step, note="")
        made = branch(
            path,
            at=step,
            apply=apply,
            end=end,
            until=until,
            out=out,
            sham=sham,
            progress=lambda at, found: progress.update(task, completed=at, note=f"loss {found.loss:.3f}"),
        )
    console.print(f"{out}: {made.identity['title']}; {made.outcome}, grade {made.grade}")
    console.print(f"next: ontogeny compare {path} {out}")


def show_tree(path: Path) -> None:
    """`ontogeny tree`."""
    found = family(path)
    if not found:
        raise NotARun(f"{path} holds no runs", remedy="give the folder that the runs' folders are in")
    known = {run.id for children in found.values() for run, _ in children}
    drawn = Tree(str(path))
    for parent, children in found.items():
        if parent not in known:
            for run, _ in children:
                _grow(drawn, run, found, "" if not parent else " (its parent is not in this folder)")
    console.print(drawn)


def _grow(tree: Tree, run: Run, found: dict[str, list[tuple[Run, int]]], note: str = "") -> None:
    reached = run.checkpoints[-1].step if run.checkpoints else 0
    limb = tree.add(f"{run.name}  to step {reached}, {run.outcome}, grade {run.grade}{note}")
    for child, step in found.get(run.id, []):
        causes = [
            entry["spec"] for entry in child.identity.get("interventions", []) if entry["start"] == step
        ]
        _grow(limb, child, found, f"  from step {step}: {', '.join(causes) or 'unchanged'}")

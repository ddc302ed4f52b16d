"""`ontogeny audit`: the findings on the terminal, gravest first."""

from collections.abc import Sequence
from pathlib import Path

import torch
from rich.console import Console

from ontogeny.audit import audit
from ontogeny.cli.stages import bars

console = Console(highlight=False)
#: Most findings of one kind that are printed; the JSON file has all of them.
LINES = 12


def audit_paths(
    paths: Sequence[str], pattern: str | None, quick: bool, out: Path | None, pickle: bool
) -> bool:
    """Audit and print; whether no error was found."""
    torch.set_num_threads(1)
    with bars(transient=True) as progress:
        task = progress.add_task("reading", total=None, note="")
        made = audit(
            *paths,
            pattern=pattern,
            trust=pickle,
            quick=quick,
            done=lambda label: progress.update(task, advance=1, note=label),
        )
    if out is not None:
        out.write_text(made.json() + "\n", encoding="utf-8")
    console.print(made.text(LINES), markup=False, soft_wrap=True)
    return made.sound

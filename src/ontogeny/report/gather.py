"""From a run, or from what was measured on checkpoints of others, to the tables a report is made from."""

import time
from pathlib import Path
from typing import Any

import pandas as pd

from ontogeny.audit import kept
from ontogeny.detect import TABLE
from ontogeny.errors import NotARun
from ontogeny.report.tables import RunTables, part_notes
from ontogeny.series import home_of, read_steps
from ontogeny.store.rows import read_rows, read_table
from ontogeny.store.run import Run

#: Said of checkpoints that are no run, in place of a grade's reason.
ELSEWHERE = "trained elsewhere: there are checkpoints, and no record of the run that could be repeated"


def run_tables(run: Run) -> RunTables:
    """Everything a report says about a run, read from its folder."""
    rows = run.table()
    telemetry = run.telemetry(*run.metrics, overlaps=True)
    samples = [(n.data["step"], n.data["text"]) for n in run.notes if n.kind == "sample"]
    return RunTables(
        identity=_identity(run, telemetry),
        telemetry=telemetry,
        rows=rows,
        transitions=run.transitions,
        samples=samples,
        parts=part_notes(rows["part"]),
    )


def series_tables(path: Path | str, home: Path | str | None = None) -> RunTables:
    """What was measured on checkpoints that are no run, and what an audit found before; none is opened.

    `home` is where the rows are, if `measure` was told to put them elsewhere. NotARun without rows.
    """
    home = home_of(path, home)
    rows, steps = read_rows(home), read_steps(home)
    if rows.empty:
        raise NotARun(
            f"{path} holds no runs, and nothing was measured on checkpoints there",
            received=f"no rows in {home}",
            remedy=f"run `ontogeny measure {path}` first, or say with --home where its rows are",
        )
    known = {
        "name": Path(path).name,
        "recipe": "",
        "checkpoints": len(set(rows["step"])),
        "steps": int(rows["step"].max()),
        "tokens": None if steps["tokens"].isna().all() else int(steps["tokens"].max()),
        "grade_reason": ELSEWHERE,
    }
    return RunTables(
        identity={key: value for key, value in known.items() if value is not None},
        rows=rows,
        transitions=read_table(home / TABLE).to_pandas() if (home / TABLE).exists() else pd.DataFrame(),
        parts=part_notes(rows["part"]),
        audit=kept(home),
    )


def _identity(run: Run, telemetry: Any) -> dict[str, Any]:
    stated = run.identity
    known = {
        "name": run.name,
        "recipe": stated.get("title", ""),
        "hash": stated.get("recipe_hash", run.id),
        "parameters": stated.get("parameters"),
        "checkpoints": len(run.checkpoints),
        "steps": int(telemetry["step"].max()) if len(telemetry) else None,
        "seconds": float(telemetry["seconds"].max()) if len(telemetry) else None,
        "attempts": run.attempts,
        "grade": run.grade,
        "grade_reason": stated.get("grade", {}).get("reason", ""),
        "disk": run.disk_bytes(),
        "environment": {k: v for k, v in stated.get("environment", {}).items() if k != "command" and v != ""},
        "sources": {k: v for k, v in stated.get("sources", {}).items() if isinstance(v, str)},
        "created": time.strftime("%Y-%m-%d %H:%M", time.localtime(stated["created"])),
        "command": stated.get("environment", {}).get("command", ""),
    }
    if "tokens" in telemetry and telemetry["tokens"].notna().any():
        known["tokens"] = int(telemetry["tokens"].max())
    return {key: value for key, value in known.items() if value is not None}

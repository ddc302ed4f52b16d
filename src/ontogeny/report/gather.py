"""From a run on disk to the tables a report is made from."""

import time
from typing import Any

from ontogeny.report.tables import RunTables, part_notes
from ontogeny.store.run import Run


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


def _identity(run: Run, telemetry: Any) -> dict[str, Any]:
    stated = run.identity
    known = {
        "name": run.name,
        "recipe": stated.get("title", ""),
        "hash": stated.get("recipe_hash", run.id),
        "parameters": stated.get("parameters"),
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

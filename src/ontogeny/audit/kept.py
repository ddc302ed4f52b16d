"""What an audit found of a series, kept in its home: whoever draws the rows can show it beside them."""

import warnings
from pathlib import Path
from typing import Any

from ontogeny.audit.audit import Audit, quick
from ontogeny.audit.finding import Finding
from ontogeny.errors import AuditWarning
from ontogeny.series import MadeCheckpoint, Series
from ontogeny.store.documents import read_json, write_json

FILE = "audit.json"


def look_over(series: Series) -> Audit:
    """`quick`, and what it found kept in the series' home; of a run nothing, since it checks its own hashes.

    Checkpoints that a function makes have no hash before they are made: of those, only their steps are told.
    Misleads: no tensor is compared, so a foreign shard or another seed is not seen; `audit` compares.
    """
    if series.run is not None or any(isinstance(one, MadeCheckpoint) for one in series.checkpoints):
        return Audit((), tuple(f"{series.name}: {note}" for note in series.notes))
    found = quick(series)
    series.home.mkdir(parents=True, exist_ok=True)
    findings = [one.record() for one in found.found]
    write_json(series.home / FILE, {"looked_at": list(found.looked_at), "findings": findings})
    return found


def kept(home: Path | str) -> Audit | None:
    """What `look_over` kept there; None where it never looked. Damaged if the file is not what it wrote."""
    path = Path(home) / FILE
    if not path.exists():
        return None
    document = read_json(path)
    return Audit(tuple(map(_finding, document["findings"])), tuple(document["looked_at"]))


def warn_of_errors(found: Audit) -> None:
    """One AuditWarning that names every error found; nothing where there is none."""
    if not found.sound:
        lines = [f"{one.kind}: {one.series}: {one.seen} ({one.meaning})" for one in found.errors]
        warnings.warn("\n".join(lines), AuditWarning, stacklevel=3)


def _finding(record: dict[str, Any]) -> Finding:
    return Finding(
        record["kind"],
        record["series"],
        record["seen"],
        tuple(record["steps"]),
        tuple(record["tensors"]),
        tuple(record["tasks"]),
        record["numbers"],
    )

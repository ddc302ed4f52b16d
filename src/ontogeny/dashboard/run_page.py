"""One run in full: its attempts, checkpoints, metrics by prefix, parts; what it wrote; the tree it is in."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from ontogeny.dashboard.entry import Entry
from ontogeny.dashboard.measured import part_list
from ontogeny.dashboard.runs import run_line
from ontogeny.dashboard.shelf import Shelf
from ontogeny.dashboard.strands import TOKENS, seconds_at, strands
from ontogeny.store.checkpoint import MANIFEST

#: Prefixes that are listed, the most frequent first.
MOST_PREFIXES = 500
TOKEN_LOSS = "token_loss"


def checkpoints_of(entry: Entry) -> list[dict[str, Any]]:
    """Committed checkpoints by step, with the tokens seen and the seconds trained by then, where known."""
    steps = entry.tables.steps()
    tokens = {}
    if len(steps):
        pairs = zip(steps["step"], steps["tokens"], strict=True)
        tokens = {int(step): float(count) for step, count in pairs if count == count}
    if entry.kind == "series":
        found = [int(step) for step in steps.get("step", ())]
        return [{"step": step, "tokens": tokens.get(step), "seconds": None} for step in found]
    found = committed(entry.path)
    counted = next(iter(strands(entry.attempts, TOKENS, "step")), None)
    for step in found:
        if step not in tokens and counted is not None:
            before = int(np.searchsorted(counted.x, step, side="right")) - 1
            tokens[step] = float(counted.y[before]) if before >= 0 else 0.0
    spent = zip(found, seconds_at(entry.attempts, found), strict=True)
    return [{"step": step, "tokens": tokens.get(step), "seconds": seconds} for step, seconds in spent]


def committed(path: Path) -> list[int]:
    """Steps of the checkpoints that are whole: a manifest is written last."""
    found = (one.parent.name for one in (path / "checkpoints").glob(f"*/{MANIFEST}"))
    return sorted(int(name) for name in found if name.isdecimal())


def run_page(shelf: Shelf, entry: Entry) -> dict[str, Any]:
    """Everything a run's page begins with; numbers are asked for one by one."""
    with entry.lock:
        line, metrics = run_line(shelf, entry), entry.metrics
        attempts = [
            {
                "attempt": number,
                "first": int(one.steps.min()) if len(one.steps) else None,
                "last": int(one.steps.max()) if len(one.steps) else None,
                "outcome": one.outcome,
                "damage": [str(damage) for damage in one.damage[:20]],
            }
            for number, one in enumerate(entry.attempts)
        ]
        checkpoints = checkpoints_of(entry)
    listed, transitions = entry.tables.derived("parts", part_list), entry.tables.transitions()
    return {
        **line,
        "attempts": attempts,
        "checkpoints": checkpoints,
        "metrics": len(metrics),
        "prefixes": prefixes_of(metrics),
        "parts": listed,
        "transitions": len(transitions),
        "stimuli": sorted({name for part in listed for name in part["stimuli"] if name}),
        "environment": entry.identity.get("environment", {}),
        "sources": entry.identity.get("sources", {}),
        "grade_reason": (entry.identity.get("grade") or {}).get("reason", ""),
        "measured_damage": [str(one) for one in entry.tables.damage[:20]],
        "has": {
            "patterns": bool(checkpoints),
            "tokens": bool(checkpoints) or any(part["name"] == TOKEN_LOSS for part in listed),
            "samples": bool(samples_of(entry)),
            "spectra": any(part["arrays"] and part["name"] != TOKEN_LOSS for part in listed),
        },
    }


def prefixes_of(metrics: list[str]) -> list[dict[str, Any]]:
    """How many metrics share what stands before the first slash; those without one are the whole model's."""
    counted = Counter(name.partition("/")[0] + "/" if "/" in name else "" for name in metrics)
    return [{"prefix": prefix, "count": count} for prefix, count in counted.most_common(MOST_PREFIXES)]


def samples_of(entry: Entry) -> list[dict[str, Any]]:
    """Texts the model wrote, in order."""
    entry.look()
    notes = [note.data for one in entry.attempts for note in one.notes if note.kind == "sample"]
    return [
        {"step": data.get("step"), "prompt": data.get("prompt", ""), "text": data.get("text", "")}
        for data in notes
    ]


def tree(shelf: Shelf) -> dict[str, Any]:
    """Which run was branched from which, where, and under what."""
    nodes = []
    for entry in shelf.entries():
        said = shelf.summaries.of(entry)
        forked = entry.parent.get("step")
        nodes.append(
            {
                "id": entry.id,
                "name": entry.name,
                "parent": shelf.parent_of(entry),
                "parent_name": entry.parent.get("name"),
                "forked_at": forked,
                "interventions": entry.interventions,
                "first": forked or 0,
                "last": said["steps"],
                "status": said["status"],
            }
        )
    shelf.summaries.save()
    return {"nodes": nodes}

"""Attention patterns, tokens and their losses, made when somebody looks: by one child process at a time.

The child has one torch thread, a low priority and a time limit, reads the run and writes into the cache. What
was once seen is kept there, by the checkpoint it was seen in.
"""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from ontogeny.dashboard.child import SECONDS, Child
from ontogeny.dashboard.entry import Entry
from ontogeny.dashboard.frames import Column, frame
from ontogeny.dashboard.measured import chosen
from ontogeny.dashboard.queries import BadQuery, number
from ontogeny.dashboard.run_page import TOKEN_LOSS, checkpoints_of
from ontogeny.errors import NotObservable, OntogenyError
from ontogeny.store.checkpoint import MANIFEST
from ontogeny.store.files import write_file

#: How many looks may wait for their turn.
MOST_WAITING = 4
LARGEST = 2**31


class Looking:
    """Carries looks out, one after the other; `cache` is where answers stay."""

    def __init__(self, cache: Path, seconds: float = SECONDS) -> None:
        self.cache, self.child = cache / "looks", Child(seconds)
        self._waiting = threading.Semaphore(MOST_WAITING)

    def pattern(self, entry: Entry, query: Mapping[str, str]) -> bytes:
        """One head's attention [query key] on one sequence; NaN and all, as the model gave it."""
        layer, head = number(query, "layer", 0, 0, LARGEST), number(query, "head", 0, 0, LARGEST)
        step = _step(entry, query, "step")
        said, numbers = self._look(entry, step, "pattern", query)
        layers = said["layers"]
        if numbers is None:  # too much to keep all layers
            said, numbers = self._look(entry, step, "pattern", query, layer)
        if numbers is None or layer not in said["layers"]:
            raise BadQuery(f"the model has no layer {layer}", allowed=f"{layers}")
        heads = numbers[said["layers"].index(layer)]
        if head >= len(heads):
            raise BadQuery(f"layer {layer} has {len(heads)} heads", received=f"head {head}")
        header = {**said, "query": heads.shape[1], "key": heads.shape[2], "heads": len(heads)}
        return frame({**header, "layer": layer, "head": head}, [Column("values", "f4", heads[head])])

    def tokens(self, entry: Entry, query: Mapping[str, str]) -> dict[str, Any]:
        """Tokens with the loss of predicting each, and what it was at another step.

        Losses are those that were measured (`token_loss`), else made from the checkpoint. The first token is
        predicted by nothing and has none.
        """
        step = _step(entry, query, "step")
        said, now = self._losses(entry, step, query)
        found = {
            "step": step,
            "stimulus": said["stimulus"],
            "sequences": said["sequences"],
            "tokens": said["tokens"],
            "loss": [None, *now.tolist()][: len(said["tokens"])],
            "before": None,
            "against": None,
        }
        if query.get("against"):
            against = _step(entry, query, "against")
            _, before = self._losses(entry, against, {**query, "stimulus": said["stimulus"]})
            found["before"], found["against"] = [None, *before.tolist()][: len(said["tokens"])], against
        return found

    def _losses(self, entry: Entry, step: int, query: Mapping[str, str]) -> tuple[dict[str, Any], np.ndarray]:
        asked = dict(query)
        measured = _measured_losses(entry, step, asked)
        if measured is not None:
            asked["stimulus"] = measured[0]
            said, _ = self._look(entry, step, "stimulus", asked)
            return said, measured[1]
        said, made = self._look(entry, step, "loss", asked)
        return said, np.zeros(0) if made is None else made

    def _look(
        self, entry: Entry, step: int, what: str, query: Mapping[str, str], layer: int | None = None
    ) -> tuple[dict[str, Any], np.ndarray | None]:
        job = {
            "what": what,
            "path": str(entry.path.absolute()),
            "home": str(entry.home.absolute()),
            "step": step,
            "layer": layer,
            "sequence": number(query, "sequence", 0, 0, LARGEST),
            "stimulus": query.get("stimulus", ""),
        }
        seen = {**job, "step": None, "layer": None} if what == "stimulus" else job
        kept = "" if what == "stimulus" else _stamp(entry, step)
        key = xxhash.xxh3_64_hexdigest(json.dumps([seen, entry.id, kept], sort_keys=True).encode())
        answer = self.cache / f"{key}.answer"
        if not answer.exists():
            self._made(self.cache / f"{key}.job", job)
        said = json.loads(answer.read_text(encoding="utf-8"))
        if "refusal" in said:
            raise BadQuery(said["refusal"].replace(job["path"], entry.name), allowed=said["allowed"])
        numbers = answer.with_suffix(".npy")
        return said, np.load(numbers) if numbers.exists() else None

    def _made(self, file: Path, job: Mapping[str, Any]) -> None:
        if not self._waiting.acquire(blocking=False):
            raise BadQuery("too many looks are waiting", allowed="try again in a while")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_file(file, json.dumps(job).encode())
            self.child.carry_out(file)
            if not file.with_suffix(".answer").exists():
                raise NotObservable("the process that looked gave no answer")
        finally:
            file.unlink(missing_ok=True)
            self._waiting.release()

    def close(self) -> None:
        """Stop a look that is under way."""
        self.child.close()


def _step(entry: Entry, query: Mapping[str, str], name: str) -> int:
    """The step of a checkpoint; the last where none is said."""
    with entry.lock:
        entry.look()
        steps = [one["step"] for one in checkpoints_of(entry)]
    if not steps:
        raise BadQuery("there is no checkpoint to look into", allowed="a run with checkpoints")
    step = number(query, name, steps[-1], 0, 2**53)
    if step not in steps:
        near = sorted(sorted(steps, key=lambda other: abs(other - step))[:5])
        raise BadQuery(f"there is no checkpoint at step {step}", allowed=f"e.g. {near}")
    return step


def _stamp(entry: Entry, step: int) -> str:
    """What changes if a checkpoint is written again."""
    for manifest in entry.path.glob(f"checkpoints/*/{MANIFEST}"):
        if manifest.parent.name.isdecimal() and int(manifest.parent.name) == step:
            state = manifest.stat()
            return f"{state.st_size} {state.st_mtime_ns}"
    return ""


def _measured_losses(entry: Entry, step: int, query: Mapping[str, str]) -> tuple[str, np.ndarray] | None:
    """Stimulus and losses of one sequence, if they were measured at that step."""
    try:
        mine = chosen(entry.tables, {**query, "part": TOKEN_LOSS, "component": "", "settings": ""})
        mine = mine[(mine["step"] == step) & (mine["array"] != "")]
        if mine.empty:
            return None
        array = entry.tables.arrays().read(mine["array"].iloc[-1])
    except OntogenyError:
        return None
    row = number(query, "sequence", 0, 0, LARGEST)
    if row >= len(array):
        raise BadQuery(f"there are {len(array)} sequences", received=f"sequence {row}")
    return str(mine["stimulus_name"].iloc[-1]), array[row].double().numpy()

"""Made-up insides of one run, as the dashboard's server would answer: every number a test sees is known."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from playwright.sync_api import Page, Route

from web.standin import frame

STEPS = [0, 1, 10, 100, 1000]
LAYERS, HEADS = 2, 3
TOKENS = ["The", " cat", "\n", " sat", "<b>", "\u202e"]
PARTS = [
    {"name": "induction", "title": "induction", "axes": ["layer", "head"], "stimuli": ["repeated_tokens"],
     "components": ["", "null:shuffled_lag"], "arrays": False},
    {"name": "sink_mass", "title": "sink mass", "axes": ["layer", "head"], "arrays": False,
     "stimuli": ["heldout", "repeated_tokens"], "components": [""]},
    {"name": "effective_rank", "title": "effective rank", "axes": ["layer"], "stimuli": ["heldout"],
     "components": [""], "arrays": False},
    {"name": "singular_values", "title": "singular values", "axes": ["matrix"], "stimuli": [""],
     "components": [""], "arrays": True},
]  # fmt: skip
SHARED = {"family": "", "unit": "share", "settings": [""], "shape": "", "meaning": "", "misleads": ""}
MATRICES = ["blocks.0.mlp.up", "blocks.1.mlp.up"]
SPECTRUM = np.outer([1, 2, 3, 4, 5], 1 / np.arange(1, 41)) * 10


def score(layer: int, head: int, step: int) -> float:
    """The value of a head's score at a checkpoint, by its place in `STEPS`: one head forms."""
    return 0.9 * step / 4 if (layer, head) == (1, 2) else 0.05 + 0.01 * layer


def answer_rows(query: dict[str, str]) -> bytes:
    """The rows of a part; one value is NaN, one undefined."""
    if query["part"] == "singular_values":
        places: list[dict[str, Any]] = [{"matrix": name} for name in MATRICES]
        values = np.full((2, 5), 3.0)
    elif query["part"] == "effective_rank":
        places = [{"layer": layer} for layer in range(LAYERS)]
        values = np.array([[10.0 - step - layer for step in range(5)] for layer in range(LAYERS)])
    else:
        places = [{"layer": layer, "head": head} for layer in range(LAYERS) for head in range(HEADS)]
        values = np.array([[score(one["layer"], one["head"], step) for step in range(5)] for one in places])
        if query.get("stimulus") == "repeated_tokens" and query["part"] == "sink_mass":
            values = values + 0.02
    status = np.zeros(values.shape, np.uint8)
    if len(places) == LAYERS * HEADS:
        values[0, 1], status[0, 1] = np.nan, 2
        values[1, 1], status[1, 1] = np.nan, 1
    header = {"part": query["part"], "unit": "share", "steps": STEPS, "places": places, "axes": []}
    columns = [("values", "f4", values.ravel(), None), ("status", "u1", status.ravel(), None)]
    columns += [("low", "f4", (values - 0.02).ravel(), None), ("high", "f4", (values + 0.02).ravel(), None)]
    return frame(header, columns)


def answer_pattern(query: dict[str, str]) -> bytes:
    """Each query looks at the token before it; at the first checkpoint at everything alike."""
    many = len(TOKENS)
    matrix = np.tril(np.ones((many, many))) / np.arange(1, many + 1)[:, None]
    if int(query["step"]) > 0:
        matrix = np.eye(many, k=-1)
        matrix[0, 0] = 1.0
    header = {"tokens": TOKENS, "query": many, "key": many}
    return frame(header, [("values", "f4", matrix.ravel(), None)])


def answer_tokens(query: dict[str, str]) -> dict[str, Any]:
    """Losses that fall with the step; the first token is predicted by nothing."""
    losses = lambda step: [None, *(round(5.0 - np.log10(1 + step) - 0.1 * at, 3) for at in range(5))]
    before = losses(int(query["against"])) if query.get("against") else None
    return {"tokens": TOKENS, "loss": losses(int(query["step"])), "before": before, "stimulus": "heldout"}


def answer_compare() -> bytes:
    """Two runs that are equal up to step 4 and then part."""
    left = np.arange(8.0)
    a, b = 5.0 - 0.1 * left, 5.0 - 0.1 * left + np.where(left > 4, 0.25, 0)
    header = {"series": [{"points": 8, "buckets": 8}]}
    columns = [("left", "f8", left), ("right", "f8", left + 1), ("a", "f4", a), ("b", "f4", b)]
    return frame(
        header, [(name, kind, column, 0) for name, kind, column in [*columns, ("difference", "f4", b - a)]]
    )


def transitions(run: str) -> list[dict[str, Any]]:
    """One claim, one refusal, and of everything else that has a place one that is gradual."""
    shared = {
        "run": run, "component": "", "stimulus": "repeated_tokens", "unit": "share", "method": "half_rise",
        "level": 0.95, "width": 0.1, "verdict": "gradual", "low": None, "high": None, "size": 0.5, "p": 0.6,
        "reason": "",
    }  # fmt: skip
    claim = {
        "part": "induction", "place": {"layer": 1, "head": 2}, "where": "layer 1 head 2", "step": 90.0,
        "verdict": "transition", "low": 60.0, "high": 120.0, "size": 0.85, "p": 0.001,
    }  # fmt: skip
    none = {
        "part": "sink_mass", "place": {"layer": 0, "head": 0}, "where": "layer 0 head 0", "step": None,
        "verdict": "none", "size": 0.01, "reason": "within the noise",
    }  # fmt: skip
    layer = {"part": "effective_rank", "place": {"layer": 0}, "where": "layer 0", "stimulus": "heldout"}
    matrix = {"part": "singular_values", "place": {"matrix": MATRICES[0]}, "where": MATRICES[0]}
    metric, lost = ({"part": part, "place": {}, "where": "whole model"} for part in ("loss/train", "unheard"))
    steps = {"step": 10.4}, {"step": 100.0}, {"step": 500.0}, {"step": 700.0}
    others = zip((layer, matrix, metric, lost), steps, strict=True)
    return [shared | claim, shared | none, *(shared | one | at for one, at in others)]


def tree(runs: list[str]) -> dict[str, Any]:
    """A run and a branch of it."""
    parent, branch = runs[:2]
    shared = {"status": "finished", "first": 0, "last": 1000}
    return {
        "nodes": [
            shared | {"id": parent, "name": "parent", "parent": None, "forked_at": None, "interventions": []},
            shared | {"id": branch, "name": "<b>branch</b>", "parent": parent, "forked_at": 100, "first": 100,
                      "interventions": ["weight_decay(value=0)"]},
        ]
    }  # fmt: skip


def detail(identity: str) -> dict[str, Any]:
    """A run in full."""
    known = {
        "id": identity, "name": "one", "title": "", "damage": "", "status": "finished", "grade": "E",
        "kind": "run", "parent": None, "forked_at": None, "interventions": [], "seed": 0, "config": {},
        "group": "g", "steps": 1000, "tokens": 1024000, "seconds": 50.0, "parameters": 1000, "claims": 1,
        "started": "2026-11-01T09:00:00", "last": {"loss": 1.0},
    }  # fmt: skip
    points = [{"step": step, "tokens": step * 1024, "seconds": step * 0.05} for step in STEPS]
    has = dict.fromkeys(("patterns", "tokens", "samples", "spectra"), True)
    rest = {"attempts": [], "prefixes": [], "stimuli": [], "metrics": 1, "transitions": 2}
    return known | rest | {"checkpoints": points, "parts": [SHARED | part for part in PARTS], "has": has}


def table(runs: list[str]) -> dict[str, Callable[[dict[str, str], str], Any]]:
    """What is answered at which address, of its query and its path."""
    samples = [{"step": step, "prompt": "def ", "text": f"<i>at {step}</i>\u202e"} for step in STEPS]
    spectrum = {"steps": STEPS, "n": SPECTRUM.shape[1], "shape": [SPECTRUM.shape[1]]}
    vector = frame(spectrum, [("values", "f4", SPECTRUM.ravel(), None)])
    return {
        r"/api/runs/[0-9a-f]+(\?|$)": lambda _, path: detail(path.rsplit("/", 1)[1]),
        r"/api/runs/[0-9a-f]+/rows": lambda query, _: answer_rows(query),
        r"/api/runs/[0-9a-f]+/pattern": lambda query, _: answer_pattern(query),
        r"/api/runs/[0-9a-f]+/tokens": lambda query, _: answer_tokens(query),
        r"/api/runs/[0-9a-f]+/samples": lambda *_: samples,
        r"/api/runs/[0-9a-f]+/vector": lambda *_: vector,
        r"/api/transitions": lambda *_: transitions(runs[0]),
        r"/api/tree": lambda *_: tree(runs),
        r"/api/compare": lambda *_: answer_compare(),
        r"/api/figures": lambda *_: {"title": "Spectra", "panels": [], "note": "none", "columns": 1},
    }


def answers(page: Page, runs: list[str]) -> None:
    """Answers what the stand-in does not know, from here."""

    def give(found: Callable[[dict[str, str], str], Any]) -> Callable[[Route], None]:
        def handle(route: Route) -> None:
            parts = urlsplit(route.request.url)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            body = found(query, parts.path)
            if isinstance(body, bytes):
                route.fulfill(body=body, content_type="application/octet-stream")
            else:
                route.fulfill(body=json.dumps(body), content_type="application/json")

        return handle

    for pattern, found in table(runs).items():
        page.route(re.compile(pattern), give(found))

"""A made-up run in the shape real ones have: an induction head forms among eight; one loss is NaN.

The curves are invented, the shapes and columns are the contract's. Nothing here is a measurement.
"""

import math

import numpy as np
import pandas as pd

LAYERS, HEADS, FORMED, LAST = 2, 4, 640.0, 4000
INDUCTION_HEAD, PREVIOUS_HEAD = (1, 2), (0, 1)
MATRICES = [
    f"blocks.{layer}.{name}"
    for layer in range(LAYERS)
    for name in (
        "attention.query",
        "attention.key",
        "attention.value",
        "attention.output",
        "mlp.up",
        "mlp.down",
    )
]
STATIC = {
    "run": "made-up", "attempt": 1, "version": 1, "parameters": "0a1b2c3d", "stimulus": "9f" * 8,
    "reference": None, "condition": "",
}  # fmt: skip
AXES = ("layer", "loop", "head", "neuron", "feature", "expert", "position", "token", "item")


def checkpoint_steps(last: int = LAST) -> list[int]:
    """43 steps: 0, then even on a logarithmic axis with more around where the head forms."""
    early = {0, 1, 2, 4, 8, 16, 32, 64}
    return sorted(early | {round(step / 10) * 10 for step in np.geomspace(100, last, 35)})


def telemetry(seed: int = 0, last: int = LAST, nan_at: int | None = 1700) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    steps = np.arange(1, last + 1)
    plateau = 4.1 * np.exp(-steps / 60) + 2.35 - 0.35 / (1 + np.exp(-(np.log(steps) - math.log(FORMED)) * 6))
    loss = plateau - 0.09 * np.log1p(steps / 300) + random.normal(0, 0.05, last) * (1 + 2 / np.sqrt(steps))
    norm = 0.4 + 2.2 * np.exp(-steps / 90) + random.gamma(2, 0.09, last)
    rate = 1e-3 * np.minimum(steps / 100, 1) * (0.55 + 0.45 * np.cos(np.pi * steps / last))
    table = pd.DataFrame(
        {
            "step": steps,
            "attempt": 1,
            "seconds": steps * 0.09,
            "loss": loss,
            "learning_rate": rate,
            "gradient_norm": norm,
            "clip_coefficient": np.minimum(1.0, 1.0 / norm),
            "update_norm": 0.02 * rate / 1e-3,
            "update_ratio": rate * (1 + 0.1 * random.normal(size=last)).clip(0.5) + 1e-6,
            "tokens": steps * 4096,
            "applied": True,
            "heldout_loss": np.nan,
        }
    )
    for index, matrix in enumerate(MATRICES):
        table[f"gradient_norm/{matrix}"] = norm * (0.1 + 0.04 * index) * random.gamma(20, 1 / 20, last)
        table[f"update_ratio/{matrix}"] = table["update_ratio"] * (0.6 + 0.1 * index)
    if nan_at is not None:
        lost = table["step"] == nan_at
        table.loc[lost, ["loss", "gradient_norm", "clip_coefficient", "update_ratio"]] = np.nan
        table.loc[lost, "applied"] = False
    held = pd.DataFrame({"step": checkpoint_steps(last)[1:], "attempt": 1})
    held["heldout_loss"] = np.interp(held["step"], steps, plateau - 0.09 * np.log1p(steps / 300)) + 0.06
    return pd.concat([table, held], ignore_index=True).sort_values("step", kind="stable", ignore_index=True)


def _score(part: str, layer: int, head: int, step: int, random: np.random.Generator) -> float:
    target, moment = {
        "induction_attention": (INDUCTION_HEAD, FORMED),
        "previous_token_attention": (PREVIOUS_HEAD, 380.0),
        "first_token_attention": ((1, 0), math.inf),
    }[part]
    base = 0.04 + 0.02 * head + random.normal(0, 0.008)
    if (layer, head) == target:
        base += 0.78 / (1 + math.exp(-7 * (math.log1p(step) - math.log1p(moment))))
    if part == "induction_attention" and (layer, head) == (1, 3):
        base += 0.3 / (1 + math.exp(-7 * (math.log1p(step) - math.log1p(900))))
    return base


def _row(part: str, step: int, value: float, **more) -> dict:
    empty = dict.fromkeys(AXES) | {"site": None, "matrix": None, "task": None}
    key = {
        "part": part,
        "step": step,
        "checkpoint": f"{step:016x}",
        "component": "",
        "stimulus_name": "heldout",
    }
    state = {"value": value, "low": None, "high": None, "n": 64, "status": "ok", "reason": ""}
    return STATIC | empty | key | state | more


def _head_rows(step: int, random: np.random.Generator) -> list[dict]:
    rows = []
    for part in ("induction_attention", "previous_token_attention", "first_token_attention"):
        for layer in range(LAYERS):
            for head in range(HEADS):
                where = {"layer": layer, "head": head, "stimulus_name": "repeated_tokens"}
                value = _score(part, layer, head, step, random)
                rows.append(_row(part, step, value, low=value - 0.02, high=value + 0.02, **where))
        if part == "induction_attention":
            for layer in range(LAYERS):
                where = {"layer": layer, "stimulus_name": "repeated_tokens"}
                edge = 0.13 + random.normal(0, 0.006)
                rows.append(_row(part, step, edge, component="null:shuffled_lag", **where))
    return rows


def _layer_rows(step: int, random: np.random.Generator) -> list[dict]:
    rows = []
    for layer in range(LAYERS + 1):
        for part, value in (
            ("effective_rank", 60 - 9 * layer - 4 * math.log1p(step) + random.normal(0, 0.4)),
            ("participation_ratio", 24 - 4 * layer - 1.3 * math.log1p(step) + random.normal(0, 0.2)),
            ("residual_norm", (1 + layer) * (1 + 0.8 * math.log1p(step))),
            ("token_similarity", 0.1 + 0.05 * layer + 0.03 * math.log1p(step)),
        ):
            if part == "participation_ratio" and layer == 2 and step == 0:
                row = _row(
                    part,
                    step,
                    math.nan,
                    layer=layer,
                    status="rank-deficient",
                    reason="fewer tokens than features",
                )
            else:
                row = _row(part, step, value, layer=layer)
            rows.append(row)
    return rows


def rows(seed: int = 0, last: int = LAST) -> pd.DataFrame:
    random = np.random.default_rng(seed + 100)
    found = []
    for step in checkpoint_steps(last):
        found += _head_rows(step, random) + _layer_rows(step, random)
        for index, matrix in enumerate(MATRICES):
            fall = 1 - 0.05 * math.log1p(step) * (0.5 + index / len(MATRICES))
            found.append(
                _row(
                    "stable_rank", step, 22 * fall + random.normal(0, 0.15), matrix=matrix, stimulus_name=None
                )
            )
            found.append(
                _row("weight_effective_rank", step, 58 * fall**0.3, matrix=matrix, stimulus_name=None)
            )
    table = pd.DataFrame(found)
    integers = dict.fromkeys(AXES, "Int64")
    return table.astype(integers | dict.fromkeys(("site", "matrix", "task", "stimulus_name"), "string"))


def transitions() -> pd.DataFrame:
    found = [
        _claim("induction_attention", 1, 2, 645.0, 560.0, 730.0, 0.78, 0.0005),
        _claim("induction_attention", 1, 3, 910.0, 800.0, 1050.0, 0.30, 0.002),
        _claim("previous_token_attention", 0, 1, 385.0, 330.0, 430.0, 0.79, 0.0005),
    ]
    claimed = {(row["part"], row["layer"], row["head"]) for row in found}
    for part in ("induction_attention", "previous_token_attention", "first_token_attention"):
        for layer in range(LAYERS):
            for head in range(HEADS):
                if (part, layer, head) not in claimed:
                    found.append(
                        _unclaimed(part, layer, head, "none", "the change stays within three quiet sd")
                    )
    for layer in range(LAYERS + 1):
        found.append(_unclaimed("effective_rank", layer, None, "gradual", "wider than ln 20 in step"))
        found.append(_unclaimed("residual_norm", layer, None, "unfinished", "the last tenth still rises"))
    return pd.DataFrame(found).astype(dict.fromkeys(AXES, "Int64"))


def _blank(part: str, layer: int, head: int | None) -> dict:
    unit = {"effective_rank": "dimensions", "residual_norm": ""}.get(part, "share of attention")
    stimulus = "repeated_tokens" if head is not None else "heldout"
    axes = dict.fromkeys(AXES) | {"site": None, "matrix": None, "task": None}
    return axes | {
        "part": part, "component": "", "layer": layer, "head": head, "stimulus_name": stimulus,
        "unit": unit, "method": "sigmoid", "level": 0.95,
    }  # fmt: skip


def _claim(part, layer, head, step, low, high, change, p) -> dict:
    located = {"verdict": "transition", "step": step, "low": low, "high": high, "size": change}
    return _blank(part, layer, head) | located | {"width": 0.63, "quiet_sd": 0.008, "p": p, "reason": ""}


def _unclaimed(part, layer, head, verdict, reason) -> dict:
    located = dict.fromkeys(("step", "low", "high", "size", "width", "p"), None)
    return _blank(part, layer, head) | located | {"verdict": verdict, "quiet_sd": 0.008, "reason": reason}


def seeds() -> pd.DataFrame:
    """Three runs held together: one change that all show, one that none does."""
    shown = {"part": "induction_attention", "stimulus_name": "repeated_tokens", "where": "layer 1 head 2 (3)"}
    numbers = {
        "shown": 3,
        "step": 640.0,
        "low": 590.0,
        "high": 695.0,
        "size": 0.78,
        "p": 2e-6,
        "p_family": 4e-6,
    }
    rest = {"part": "first_token_attention", "shown": 0, "reason": "no run claims it"}
    return pd.DataFrame([{**one, "runs": 3, "unit": "attention"} for one in (shown | numbers, rest)])


def samples() -> list[tuple[int, str]]:
    return [
        (0, "ÿ3(;k]]q\x08Vv{0Ae—u=n%tY!z"),
        (64, "  e t  se r   e) i    s  e t  s   r.n e"),
        (385, "def sefl(self, selt):\n        retur self.\n        if the"),
        (910, 'def close(self):\n        """Close it."""\n        if self._file:\n            self._close()'),
        (
            4000,
            "class Reader(Base):\n    def __init__(self, name, *, size=None):\n        self.size = 0\n",
        ),
    ]


def identity(name: str = "induction-2x4") -> dict:
    return {
        "name": name,
        "recipe": "A two-layer decoder on the standard library",
        "hash": "3f9c1e77ab20d4e5",
        "parameters": 1_312_768,
        "steps": LAST,
        "tokens": LAST * 4096,
        "seconds": 372.4,
        "grade": "E",
        "grade_reason": "the first 20 steps gave the same bits in a fresh process",
        "attempts": 1,
        "disk": {"checkpoints": 676_400_000, "telemetry": 4_310_000, "rows": 912_000},
        "environment": {"python": "3.11.9", "torch": "2.13.0", "threads": 1, "platform": "linux x86_64"},
        "sources": {
            "corpus": "b1946ac92492d2347c6235b4d2611184",
            "tokenizer": "591785b794601e212b260e25925636fd",
        },
        "created": "2026-10-04 09:12 UTC",
        "command": "ontogeny record recipes/stdlib-2x4.toml --seed 0",
    }

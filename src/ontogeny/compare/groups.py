"""Groups of runs, paired by seed: what a treatment does on average, and how sure so many seeds make it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ontogeny.compare.comparison import PLACE, Columns, Comparison, Gaps, table
from ontogeny.compare.divergence import DIVERGENCE, first_difference
from ontogeny.compare.measured import ROWS, TELEMETRY, rows_side_by_side, telemetry_side_by_side
from ontogeny.compare.side import Side, describe, require_common_steps, series_at
from ontogeny.errors import NotARun, NotObservable
from ontogeny.statistics.arrangements import pairs_to_reach
from ontogeny.statistics.paired import PairedEffect, paired_effects
from ontogeny.vocabulary import AXES

#: What is compared: a metric of the telemetry, or a part's component at a place on a stimulus.
TEST = ["metric", "part", "component", *AXES, "stimulus_name", "step"]
EFFECTS: Columns = {
    "run": "str",
    "metric": "str",
    "part": "str",
    "component": "str",
    **PLACE,
    "stimulus_name": "str",
    "step": "Int64",
    **dict.fromkeys(("effect", "low", "high"), "float64"),
    "n": "Int64",
    "interval": "str",
    "p": "float64",
    "p_family": "float64",
    "p_reason": "str",
    "seeds_needed": "Int64",
    "seeds_reason": "str",
}


@dataclass(frozen=True)
class Group:
    """Runs of one configuration, by seed."""

    label: str
    sides: dict[int, Side]


def compare_groups(paths: Sequence[Path | str], metrics: Sequence[str], alpha: float) -> Comparison:
    """Hold every group against the first, over the seeds they share.

    Numbers are compared at the last step that all pairs have in common: one look, so that choosing a step
    need not be paid for. `p_family` is held against the largest of everything in the table of one group.
    """
    groups = _open_groups(paths)
    first, gaps = groups[0], Gaps()
    tables: dict[str, list[pd.DataFrame]] = {}
    said = [_mixed(group) for group in groups]
    for group in groups[1:]:
        seeds = _shared_seeds(group, first, gaps)
        pairs = [(seed, group.sides[seed], first.sides[seed]) for seed in seeds]
        for _, here, there in pairs:
            require_common_steps(here, there)
        found = {
            "divergence": [first_difference(here, there, gaps) for _, here, there in pairs],
            "telemetry": [
                telemetry_side_by_side(here, there, metrics, gaps).assign(seed=seed)
                for seed, here, there in pairs
            ],
            "rows": [rows_side_by_side(here, there, gaps).assign(seed=seed) for seed, here, there in pairs],
        }
        found["effects"] = [_effects(group.label, found["telemetry"], found["rows"], alpha)]
        said.append(_said(group, first, len(seeds), alpha))
        for name, frames in found.items():
            tables.setdefault(name, []).extend(frames)
    return Comparison(
        reference=first.label,
        runs=describe([side for group in groups for side in group.sides.values()]),
        divergence=table(tables["divergence"], DIVERGENCE),
        telemetry=table(tables["telemetry"], {**TELEMETRY, "seed": "Int64"}),
        rows=table(tables["rows"], {**ROWS, "seed": "Int64"}),
        effects=table(tables["effects"], EFFECTS),
        left_out=gaps.table(),
        statement="; ".join(filter(None, said)),
    )


def _open_groups(paths: Sequence[Path | str]) -> list[Group]:
    if len(paths) < 2:
        received = ", ".join(map(str, paths)) or "none"
        raise NotARun("one group has nothing to be compared with", received=received, allowed="two or more")
    names = [Path(path).name for path in paths]
    labels = names if len(set(names)) == len(names) else [str(path) for path in paths]
    groups = []
    for label, path in zip(labels, paths, strict=True):
        sides: dict[int, Side] = {}
        for series in series_at(Path(path)):
            side = Side(label if series.name == label else f"{label}/{series.name}", series)
            if side.seed is None or side.seed in sides:
                twin = (
                    "no recipe" if side.seed is None else f"seed {side.seed}, as {sides[side.seed].label} has"
                )
                raise NotObservable(
                    f"{side.label} cannot be paired by seed",
                    received=twin,
                    allowed="runs made from recipes, one a seed in each group",
                    remedy="leave it out, or compare single runs without groups",
                )
            sides[side.seed] = side
        groups.append(Group(label, sides))
    return groups


def _shared_seeds(group: Group, first: Group, gaps: Gaps) -> list[int]:
    shared = sorted(group.sides.keys() & first.sides.keys())
    if not shared:
        received = "; ".join(f"{g.label}: {sorted(g.sides)}" for g in (first, group))
        raise NotObservable(
            f"{first.label} and {group.label} share no seed",
            received=received,
            allowed="at least one seed in both",
            remedy="train both configurations from the same seeds: ontogeny train RECIPE --seed N",
        )
    for one in (group, first):
        for seed in sorted(one.sides.keys() - set(shared)):
            gaps.add(one.sides[seed].label, "the run", f"its seed {seed} has no partner")
    return shared


def _effects(
    label: str, telemetry: list[pd.DataFrame], rows: list[pd.DataFrame], alpha: float
) -> pd.DataFrame:
    """Paired differences of every number that all pairs have at their last common step."""
    seeds = len(telemetry)
    tests = [
        _last_common(frames, keys, seeds) for frames, keys in ((telemetry, ["metric"]), (rows, ["part"]))
    ]
    tests = [frame for frame in tests if len(frame)]
    if not tests:
        return pd.DataFrame()
    every = pd.concat(tests, ignore_index=True).reindex(columns=[*TEST, "seed", "difference"])
    groups = every.groupby(TEST, dropna=False, sort=False)
    every["test"] = groups.ngroup()
    by_seed = every.pivot_table(index="seed", columns="test", values="difference", dropna=False)
    by_seed = by_seed.reindex(columns=range(groups.ngroups))
    found = paired_effects(by_seed.to_numpy(dtype=np.float64, na_value=np.nan), alpha=alpha)
    addresses = every.drop_duplicates("test")[TEST].to_dict("records")
    return pd.DataFrame(
        {"run": label, **address, **_record(effect)} for address, effect in zip(addresses, found, strict=True)
    )


def _last_common(frames: list[pd.DataFrame], keys: list[str], seeds: int) -> pd.DataFrame:
    """Rows at the last step that every pair has, metric by metric (part by part)."""
    frames = [frame for frame in frames if len(frame)]
    if len(frames) < seeds:
        return pd.DataFrame()
    every = pd.concat(frames, ignore_index=True)
    pairs = every.groupby([*keys, "step"])["seed"].transform("nunique")
    common = every[pairs == seeds]
    return common[common["step"] == common.groupby(keys)["step"].transform("max")]


def _record(found: PairedEffect) -> dict:
    return {
        "effect": found.effect.value,
        "low": found.effect.low,
        "high": found.effect.high,
        "n": found.effect.n,
        "interval": found.interval,
        "p": found.p.value,
        "p_family": found.p_family.value,
        "p_reason": found.p.reason,
        "seeds_needed": None if found.seeds.reason else found.seeds.value,
        "seeds_reason": found.seeds.reason,
    }


def _mixed(group: Group) -> str:
    """A warning where runs of one group differ in more than their seed."""
    recipes = []
    for side in group.sides.values():
        training = {key: value for key, value in side.recipe["training"].items() if key != "seed"}
        recipes.append({**side.recipe, "training": training, "title": "", "expected": ""})
    return "" if all(recipe == recipes[0] for recipe in recipes) else f"{group.label} mixes recipes"


def _said(group: Group, first: Group, pairs: int, alpha: float) -> str:
    counted = f"{group.label} against {first.label}: {pairs} pair(s) of seeds"
    needed = pairs_to_reach(alpha)
    if pairs < needed:
        return f"{counted}, too few for p ≤ {alpha:g} (the exact test needs {needed}): effects and no p-value"
    return f"{counted}, exact sign-flip p; p_family is held against the largest of all numbers compared"

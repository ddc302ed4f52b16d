"""`ontogeny compare`: where runs part and by how much, as tables on the terminal."""

from pathlib import Path

import pandas as pd
import torch
from rich.console import Console
from rich.table import Table

from ontogeny.compare import Comparison, compare
from ontogeny.compare.comparison import place_of

console = Console(highlight=False)
#: Most lines of one printed table; the Python tables have all of it.
LINES = 12
#: How a null is printed.
UNDEFINED = "–"


def compare_paths(
    paths: list[Path],
    groups: bool,
    metrics: list[str],
    passes: bool,
    text: Path | None,
    pattern: str | None,
    trust: bool,
) -> None:
    """`ontogeny compare`."""
    torch.set_num_threads(1)
    found = compare(
        paths, groups=groups, metrics=metrics, passes=passes, text=text, pattern=pattern, trust=trust
    )
    console.print(f"against {found.reference}")
    _print_divergence(found)
    if groups:
        _print_effects(found)
    else:
        _print_pairs(found)
    for line in found.left_out.to_dict("records"):
        console.print(f"left out of {line['run']}: {line['what']}: {line['reason']}")
    console.print(found.statement)


def _print_divergence(found: Comparison) -> None:
    for line in found.divergence.to_dict("records"):
        step, checkpoint = line["first_differing_step"], line["first_differing_checkpoint"]
        where = "no differing step" if pd.isna(step) else f"first differing step {step}"
        kept = (
            "no differing checkpoint" if pd.isna(checkpoint) else f"first differing checkpoint {checkpoint}"
        )
        console.print(
            f"{line['run']}: {where} among {line['common_steps']} with digests; "
            f"{kept} among {line['common_checkpoints']}"
        )
    if len(found.tensors):
        for run, lines in found.tensors.groupby("run", sort=False):
            names = lines["tensor"].tolist()
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            console.print(f"{run}: {len(names)} tensors differ there: {', '.join(names[:5])}{more}")


def _print_pairs(found: Comparison) -> None:
    last = found.telemetry.drop_duplicates(["run", "metric"], keep="last")
    _print("telemetry at the last common step", last, ["run", "metric", "step", *_VALUES])
    final = found.rows[found.rows["step"] == found.rows.groupby("run")["step"].transform("max")]
    _print("measured, largest differences at the last common step", _largest(final), [*_WHERE, *_VALUES])
    whole = found.distances[found.distances["matrix"].isna()]
    _print("distance of all parameters", whole, ["run", "step", "distance", "relative"], LINES)
    own = found.similarity[found.similarity["component"] == ""]
    for part, of_part in own.groupby("part"):
        over = of_part.groupby(["run", "step"], sort=False)["value"].agg(["min", "max"]).reset_index()
        _print(f"{part} over layers", over, ["run", "step", "min", "max"], LINES)
    columns = ["run", "units", "barrier", "alpha", "loss", "reference_loss", "distance", "reason"]
    _print("loss barrier between the final checkpoints", found.barriers, columns)


def _print_effects(found: Comparison) -> None:
    """Telemetry first, then what differs most surely."""
    order = found.effects["metric"].isna() + found.effects["p_family"].fillna(1)
    table = found.effects.loc[order.sort_values(kind="stable").index]
    table = table.assign(what=table["metric"].where(table["metric"].notna(), table["part"]))
    columns = ["run", "what", "component", "place", "stimulus_name", "step", "effect", "low", "high", "n"]
    _print("paired differences over seeds", table, [*columns, "p", "p_family", "seeds_needed"], LINES)
    for reason in table["p_reason"][table["p_reason"] != ""].unique():
        console.print(f"no p: {reason}")


_VALUES = ["value", "reference_value", "difference"]
_WHERE = ["run", "part", "component", "place", "stimulus_name", "step"]


def _largest(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a part and component, where it differs most; the largest relative differences first."""
    found = rows[rows["difference"].notna()]
    sizes = found["difference"].abs()
    best = found.loc[sizes.sort_values(ascending=False, kind="stable").index]
    best = best.drop_duplicates(["run", "part", "component", "stimulus_name"])
    scale = best[["value", "reference_value"]].abs().max(axis=1)
    order = (best["difference"].abs() / scale.where(scale > 0, 1)).sort_values(ascending=False, kind="stable")
    return best.loc[order.index]


def _print(title: str, frame: pd.DataFrame, columns: list[str], most: int = LINES) -> None:
    if not len(frame):
        return
    table = Table(*columns, title=title, title_justify="left")
    shown = frame if len(frame) <= most else pd.concat([frame.head(most // 2), frame.tail(most - most // 2)])
    if title.startswith(("measured", "paired")):
        shown = frame.head(most)
    for record in shown.to_dict("records"):
        record["place"] = place_of(record)
        table.add_row(*(_cell(record[column]) for column in columns))
    console.print(table)
    if len(frame) > most:
        console.print(f"  {most} of {len(frame)} shown; ontogeny.compare.compare gives them all")


def _cell(value: object) -> str:
    if isinstance(value, float):
        return UNDEFINED if value != value else f"{value:.5g}"
    return UNDEFINED if value is pd.NA or value is None else str(value)

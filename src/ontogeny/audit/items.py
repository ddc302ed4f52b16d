"""Which problems one model gained and lost against another, and how many of these are noise."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ontogeny.bridges.item_scores import ItemScores, read_item_scores
from ontogeny.errors import BadSource
from ontogeny.statistics.item_changes import Answers, ItemChanges, item_changes
from ontogeny.statistics.mcnemar import mcnemar
from ontogeny.vocabulary import Reading

#: Where a model's item scores may come from.
Scores = ItemScores | pd.DataFrame | Path | str


@dataclass(frozen=True)
class ItemAudit:
    """What changed between two models, item by item, beside what a plain list of changes would have said.

    items    one row an item of both: item, before, before_n, after, after_n, difference, flips_before,
             flips_after (how often two evaluations of one model disagree), p, q, verdict
    changes  the numbers behind it (`statistics.item_changes`)
    ledger   gains and losses that the first evaluation of each lists, and McNemar's exact p of these
    notes    what was left out, and why
    """

    before: str
    after: str
    metric: str
    items: pd.DataFrame
    changes: ItemChanges
    ledger: tuple[int, int, Reading]
    notes: tuple[str, ...]

    def text(self, most: int = 12) -> str:
        """What was found, as plain lines; at most so many gained and lost items are named."""
        gained, lost, p = self.ledger
        found, net = self.changes, self.changes.net
        lines = [f"{self.before} -> {self.after}: {len(self.items):,} items of both, {self.metric}"]
        lines += [f"  {note}" for note in self.notes]
        if len(self.items):
            means = self.items[["before", "after"]].mean()
            span = "" if net.low is None else f" ({net.low:+.4f} to {net.high:+.4f})"
            lines.append(f"right: {means['before']:.4f} -> {means['after']:.4f}, net {net.value:+.4f}{span}")
        lines.append(f"first evaluations: {gained} gained, {lost} lost; McNemar's exact p = {p.value:.3g}")
        if found.by_chance.reason:
            lines.append(f"how many of these are noise is not known: {found.by_chance.reason}")
        else:
            lines += _noise(found)
        if found.refusal:
            return "\n".join([*lines, found.refusal])
        told = (
            f"{found.gained.sum()} gained, {found.lost.sum()} lost, of {found.tested:,} items that could be"
        )
        lines.append(f"told from noise: {told}")
        for verdict in ("gained", "lost"):
            names = self.items.loc[self.items["verdict"] == verdict, "item"].tolist()
            more = f" and {len(names) - most} more" if len(names) > most else ""
            lines += [f"  {verdict}: {', '.join(names[:most])}{more}"] if names else []
        return "\n".join(lines)


def audit_items(
    before: Scores, after: Scores, *, metric: str | None = None, threshold: float = 0.5, alpha: float = 0.05
) -> ItemAudit:
    """Hold the item scores of two models or checkpoints against each other.

    An answer is right from `threshold`. Items of one model only, and items whose question differs, are left
    out and counted. Replicate evaluations of each model are the null: how often it contradicts itself.
    Without them the net gain is tested, and no single item.
    BadSource where no item is in both.
    Known: a model against itself -> no item gained, and about as many listed as are by chance.
    Misleads: see `statistics.item_changes`; deterministic replicates show no noise, and then every change of
    one checkpoint is called real, although the next checkpoint may change it back.
    """
    sides = [s if isinstance(s, ItemScores) else read_item_scores(s, metric) for s in (before, after)]
    notes = [note for side in sides for note in side.notes]
    counts = [_counted(side, threshold) for side in sides]
    both, said = _shared(counts[0], counts[1], [side.name for side in sides])
    if both.empty:
        raise BadSource(
            f"{sides[0].name} and {sides[1].name} share no item",
            received=f"{counts[0].index[:3].tolist()} … and {counts[1].index[:3].tolist()} …",
            allowed="the same items under the same names",
        )
    answers = [
        Answers(both[f"right{side}"].to_numpy(np.int64), both[f"asked{side}"].to_numpy(np.int64))
        for side in ("_before", "_after")
    ]
    changes = item_changes(answers[0], answers[1], alpha=alpha)
    first = both[["first_before", "first_after"]].to_numpy(bool)
    gained, lost = int((~first[:, 0] & first[:, 1]).sum()), int((first[:, 0] & ~first[:, 1]).sum())
    graded = any((~side.table["score"].isin([0, 1])).any() for side in sides)
    notes += said + ([f"scores are graded; right from {threshold:g}"] if graded else [])
    return ItemAudit(
        sides[0].name,
        sides[1].name,
        sides[0].metric,
        _table(both.index, answers, changes),
        changes,
        (gained, lost, mcnemar(gained, lost)),
        tuple(notes),
    )


def _counted(side: ItemScores, threshold: float) -> pd.DataFrame:
    """By item: how often right, how often asked, whether right at first, the question's digest."""
    right = side.table.assign(right=side.table["score"] >= threshold)
    grouped = right.groupby("item", sort=False)
    return grouped.agg(
        right=("right", "sum"), asked=("right", "size"), first=("right", "first"), digest=("digest", "first")
    )


def _shared(before: pd.DataFrame, after: pd.DataFrame, names: list[str]) -> tuple[pd.DataFrame, list[str]]:
    both = before.add_suffix("_before").join(after.add_suffix("_after"), how="inner")
    notes = [
        f"{len(side) - len(both)} items of {name} only, left out"
        for side, name in zip((before, after), names, strict=True)
        if len(side) > len(both)
    ]
    digests = both[["digest_before", "digest_after"]]
    other = (digests != "").all(axis=1) & (digests["digest_before"] != digests["digest_after"])
    if other.any():
        notes.append(f"{int(other.sum())} items ask another question under the same name, left out")
    return both[~other], notes


def _table(names: pd.Index, answers: list[Answers], changes: ItemChanges) -> pd.DataFrame:
    before, after = answers
    difference = after.share - before.share
    verdict = np.select(
        [changes.gained, changes.lost, difference == 0], ["gained", "lost", "same"], "not told from noise"
    )
    return pd.DataFrame(
        {
            "item": list(names),
            "before": before.share,
            "before_n": before.asked,
            "after": after.share,
            "after_n": after.asked,
            "difference": difference,
            "flips_before": before.flips,
            "flips_after": after.flips,
            "p": changes.p,
            "q": changes.q,
            "verdict": verdict,
        }
    )


def _noise(found: ItemChanges) -> list[str]:
    flips = " and ".join("unknown" if not one.n else f"{one.value:.1%} of items" for one in found.flips)
    chance = found.by_chance
    span = "" if chance.low is None else f" ({chance.low:.0f} to {chance.high:.0f})"
    return [
        f"two evaluations of one model disagree about {flips}",
        f"one evaluation each lists {found.listed[0]:.0f} gained and {found.listed[1]:.0f} lost on average;",
        f"  {chance.value:.0f}{span} of each had nothing changed",
    ]

"""Findings about checkpoints and shards that are out of place: what they are, and where they belong."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontogeny.audit.displacement import DETOUR_ALONE, DETOUR_TOGETHER, FITS, UNRELATED, faults
from ontogeny.audit.finding import Finding, listed
from ontogeny.audit.weight_path import WeightPath

#: Out-of-place tensors belong to the point they are nearest to if they are so much nearer to it.
BELONGS = 0.7
#: A checkpoint is out of place as a whole if so large a share of its tensors is.
WHOLE = 0.8


@dataclass(frozen=True)
class Displaced:
    """Tensors of the checkpoint at `point` that are out of place.

    nearest   the point they are nearest to
    nearness  the distance to it over that to the nearer neighbour
    relation  the largest correlation with any other point
    equal     whether they equal those of `nearest` bit by bit
    """

    point: int
    tensors: tuple[int, ...]
    detour: float
    nearest: int
    nearness: float
    relation: float
    equal: bool


@dataclass(frozen=True)
class Displacements:
    """What is out of place: whole checkpoints, tensors of others, and pairs of checkpoints exchanged."""

    whole: Sequence[Displaced] = ()
    parts: Sequence[Displaced] = ()
    pairs: Sequence[tuple[int, int]] = ()

    @property
    def points(self) -> set[int]:
        """All checkpoints with anything out of place."""
        return {one.point for one in (*self.whole, *self.parts)} | {
            point for pair in self.pairs for point in pair
        }


def displacements(path: WeightPath) -> Displacements:
    """Whole checkpoints that are out of place, and then, among the others, single tensors that are."""
    if len(path.steps) < 4 or not path.names:
        return Displacements()
    everything = np.arange(len(path.names))
    together = faults(path.distances, path.correlations, np.all(path.equal, axis=0), DETOUR_TOGETHER)
    away = {point for one in together for point in one.points}
    whole, pairs = [], []
    for one in together:
        if any(_share(path, point, away) < WHOLE for point in one.points):
            continue
        if one.exchanged:
            pairs.append((one.points[0], one.points[1]))
        else:
            whole += [_located(path, point, everything, one.detour) for point in one.points]
    found = _parts(path, {one.point for one in whole} | {point for pair in pairs for point in pair})
    whole += [one for one in found if len(one.tensors) >= WHOLE * len(path.names)]
    parts = [one for one in found if len(one.tensors) < WHOLE * len(path.names)]
    return Displacements(sorted(whole, key=lambda one: one.point), parts, sorted(pairs))


def _parts(path: WeightPath, away: set[int]) -> list[Displaced]:
    left = [i for i in range(len(path.steps)) if i not in away]
    if len(left) < 4:
        return []
    tensors: dict[int, dict[int, float]] = defaultdict(dict)
    for index in range(len(path.names)):
        distances, correlations, equal = (
            table[index][left][:, left] for table in (path.distances, path.correlations, path.equal)
        )
        for one in faults(distances[None], correlations[None], equal, DETOUR_ALONE):
            for point in one.points:
                tensors[left[point]][index] = one.detour
    return [
        _located(path, point, np.array(sorted(found)), float(np.median(list(found.values()))))
        for point, found in sorted(tensors.items())
    ]


def _share(path: WeightPath, point: int, away: set[int]) -> float:
    """The share of tensors that lie off the straight way between the neighbours that are in place."""
    before = [i for i in range(point) if i not in away]
    after = [i for i in range(point + 1, len(path.steps)) if i not in away]
    if not before or not after:
        return 1.0
    out, back = path.distances[:, before[-1], point], path.distances[:, point, after[0]]
    straight = path.distances[:, before[-1], after[0]]
    return float((out + back > 1.5 * straight).mean())


def _located(path: WeightPath, point: int, tensors: NDArray, detour: float) -> Displaced:
    own = path.distances[tensors, point].astype(np.float64)
    own[:, point] = np.inf
    nearest = int(np.bincount(own.argmin(axis=1)).argmax())
    beside = [i for i in (point - 1, point + 1) if 0 <= i < len(path.steps)]
    near = np.maximum(own[:, beside].min(axis=1), np.finfo(float).tiny)
    related = np.delete(path.correlations[tensors, point], point, axis=1)
    related = related[np.isfinite(related).all(axis=1)]
    return Displaced(
        point=point,
        tensors=tuple(tensors.tolist()),
        detour=detour,
        nearest=nearest,
        nearness=float(np.median(own[:, nearest] / near)),
        relation=float(np.median(related, axis=0).max()) if len(related) else np.nan,
        equal=bool(path.equal[tensors, point, nearest].all()),
    )


def placing_findings(
    name: str, path: WeightPath, found: Displacements, files: Mapping[str, str]
) -> Iterator[Finding]:
    """Exchanged, misplaced and foreign checkpoints and shards; `files` says which file holds each tensor."""
    pairs = list(found.pairs)
    for one in found.whole:
        partner = _neighbour(path, one, found.points)
        if partner is None:
            yield _finding(name, path, one, "the weights", (), "checkpoint")
        else:
            pairs.append((min(one.point, partner), max(one.point, partner)))
    for pair in dict.fromkeys(pairs):
        steps = tuple(path.steps[point] for point in pair)
        seen = f"the weights follow one path if steps {steps[0]} and {steps[1]} are exchanged"
        yield Finding("swapped-checkpoints", name, seen, steps)
    for one in found.parts:
        tensors = tuple(path.names[t] for t in one.tensors)
        what = f"{len(tensors)} of {len(path.names)} large tensors ({_of(tensors, path, files)})"
        yield _finding(name, path, one, what, tensors, "shard")


def _neighbour(path: WeightPath, one: Displaced, away: set[int]) -> int | None:
    """The neighbour with which a checkpoint was exchanged: it fits in on that one's other side."""
    if one.equal or not one.relation > UNRELATED:
        return None
    left = [i for i in range(len(path.steps)) if i not in away]
    detours: dict[int, float] = {}
    for direction in (1, -1):
        ahead = [i for i in left if (i - one.point) * direction > 0][::direction]
        behind = [i for i in left if (i - one.point) * direction < 0][::-direction]
        if not ahead or not behind or abs(ahead[0] - one.point) > 1:
            continue
        # At an end nothing lies beyond the neighbour: then that one must lie between this one and the rest.
        order = (ahead[0], one.point, ahead[1]) if len(ahead) > 1 else (one.point, ahead[0], behind[0])
        out, back, straight = (
            path.distances[:, i, j]
            for i, j in ((order[0], order[1]), (order[1], order[2]), (order[0], order[2]))
        )
        detours[ahead[0]] = float(np.median((out + back) / np.maximum(straight, np.finfo(np.float32).tiny)))
    best = min(detours, key=lambda point: detours[point], default=None)
    return best if best is not None and detours[best] < FITS else None


def _finding(
    name: str, path: WeightPath, one: Displaced, what: str, tensors: tuple[str, ...], noun: str
) -> Finding:
    step, nearest = path.steps[one.point], path.steps[one.nearest]
    numbers = {"detour": one.detour, "nearness": one.nearness, "relation": one.relation}
    if one.equal or one.nearness < BELONGS:
        last = " (the last one)" if one.nearest == len(path.steps) - 1 else ""
        how = "equal those" if one.equal else "are nearest to those"
        seen = f"step {step}: {what} {how} of step {nearest}{last}"
        return Finding(f"misplaced-{noun}", name, seen, (step, nearest), tensors, numbers=numbers)
    if one.relation < UNRELATED:
        seen = (
            f"step {step}: {what} have nothing in common with any other step (correlation {one.relation:.2f})"
        )
        kind = "not-descended" if noun == "checkpoint" and one.point == 0 else f"foreign-{noun}"
        return Finding(kind, name, seen, (step,), tensors, numbers=numbers)
    seen = f"step {step}: {what} leave the path and come back (detour {one.detour:.1f})"
    return Finding("outlier-checkpoint", name, seen, (step,), tensors, numbers=numbers)


def _of(tensors: Sequence[str], path: WeightPath, files: Mapping[str, str]) -> str:
    """The file that holds these tensors and no other large ones; else their names."""
    holding = {files.get(tensor, "") for tensor in tensors}
    rest = {files.get(tensor, "") for tensor in path.names if tensor not in tensors}
    return (
        f"all of {holding.pop()}" if len(holding) == 1 and not (holding & ({""} | rest)) else listed(tensors)
    )

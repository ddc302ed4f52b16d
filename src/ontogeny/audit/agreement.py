"""Which checkpoints have the same results: within a series, and across series."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontogeny.audit.finding import Finding, listed
from ontogeny.audit.sharing import Point, components, sharing_findings
from ontogeny.bridges import Evaluation

#: Agreement by chance of less than 2^-20 is no chance.
ENOUGH_BITS = 20.0


@dataclass(frozen=True)
class Results:
    """Every number of some evaluations as one matrix [evaluation number]; what is missing is NaN."""

    members: Sequence[tuple[str, Evaluation]]

    @cached_property
    def columns(self) -> list[tuple[str, str]]:
        """Task and metric of every column."""
        found = {(task, m): None for _, one in self.members for task, ms in one.values.items() for m in ms}
        return sorted(found)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The numbers."""
        return self._matrix([one.values for _, one in self.members])

    @cached_property
    def errors(self) -> NDArray[np.float64]:
        """Their standard errors."""
        return self._matrix([one.errors for _, one in self.members])

    def _matrix(self, tables: Sequence[Mapping[str, Mapping[str, float]]]) -> NDArray[np.float64]:
        rows = [[table.get(t, {}).get(m, np.nan) for t, m in self.columns] for table in tables]
        return np.array(rows, dtype=np.float64).reshape(len(tables), len(self.columns))

    def pairs(self) -> Iterator[tuple[int, int, NDArray[np.bool_]]]:
        """Pairs of rows that agree in every number they share, and which columns they share."""
        present = np.isfinite(self.values)
        for i in range(len(self.members) - 1):
            shared = present[i] & present[i + 1 :]
            differ = (shared & (self.values[i] != self.values[i + 1 :])).any(axis=1)
            for offset in np.flatnonzero(~differ & shared.any(axis=1)):
                yield i, i + 1 + int(offset), shared[offset]


def agreement_findings(series: Mapping[str, Sequence[Evaluation]]) -> Iterator[Finding]:
    """Equal results at different steps of a series, and in different series.

    Two checkpoints agree when every number they share is equal to the last bit (standard errors, which are
    bootstrapped, do not count). Each task counts -log2 of the frequency with which its rarest-repeating
    metric repeats between neighbours of the same series; below 20 bits agreement may be chance. Equal points
    that open a series are `no-update-yet`; with equal files, or one hash of weights, `same-file`; elsewhere
    `duplicate-results`.
    Known: the first two of Pythia's checkpoints. Misleads: a model that always gives one answer agrees with
    itself in every accuracy whatever its weights; metrics without a likelihood are weak evidence.
    """
    results = Results([(name, one) for name, members in series.items() for one in members])
    within: dict[str, list[tuple[int, int, NDArray]]] = defaultdict(list)
    across: list[tuple[int, int]] = []
    costs = _costs(results, series)
    for i, j, shared in results.pairs():
        one, other = results.members[i][0], results.members[j][0]
        bits = _bits(results.columns, shared, costs.get(one, costs[""]) if one == other else costs[""])
        if one == other:
            within[one].append((i, j, shared))
        elif bits >= ENOUGH_BITS:
            across.append((i, j))
    start: dict[str, set[int]] = {name: {_steps(members)[0]} for name, members in series.items()}
    for name, pairs in within.items():
        yield from _within(name, results, pairs, costs.get(name, costs[""]), start[name])
    groups = [[_point(results, i) for i in group] for group in components(across)]
    yield from sharing_findings(groups, start, "results")


def _point(results: Results, index: int) -> Point:
    name, one = results.members[index]
    return name, one.step or 0


def _within(
    name: str, results: Results, pairs: list[tuple[int, int, NDArray]], costs: NDArray, start: set[int]
) -> Iterator[Finding]:
    order = _steps([one for member, one in results.members if member == name])
    for group in components([(i, j) for i, j, _ in pairs]):
        members = [results.members[i][1] for i in group]
        steps = _steps(members)
        if len(steps) < 2:
            continue  # one step evaluated twice is a finding of its own
        shared = np.logical_and.reduce([s for i, _, s in pairs if i in group])
        tasks = sorted({task for (task, _), here in zip(results.columns, shared, strict=True) if here})
        bits = _bits(results.columns, shared, costs)
        opening = order[: len(steps)] == steps
        start.update(steps if opening else ())
        kind = "no-update-yet" if opening else "duplicate-results"
        if _twice(members, "digest") or _twice(members, "weights"):
            kind = "same-file"
        elif bits < ENOUGH_BITS:
            kind = "chance-agreement"
        yield Finding(
            kind,
            name,
            f"steps {listed(steps)} agree in all {len(tasks)} tasks and {int(shared.sum())} numbers",
            steps=tuple(steps),
            tasks=tuple(tasks),
            numbers={"tasks": len(tasks), "numbers": int(shared.sum()), "bits": round(bits, 1)},
        )


def _costs(results: Results, series: Mapping[str, Sequence[Evaluation]]) -> dict[str, NDArray]:
    """Bits of surprise for every column, if it repeats between neighbours; by series, and "" for all."""
    costs, repeats, chances = {}, np.zeros(len(results.columns)), np.zeros(len(results.columns))
    position = 0
    for name, members in series.items():
        values = results.values[position : position + len(members)]
        position += len(members)
        equal = values[1:] == values[:-1]
        whole = (equal | ~np.isfinite(values[1:] + values[:-1])).all(axis=1)
        equal, known = equal[~whole], np.isfinite(values[1:] + values[:-1])[~whole]
        costs[name] = -np.log2((equal.sum(axis=0) + 1) / (known.sum(axis=0) + 2))
        repeats, chances = repeats + equal.sum(axis=0), chances + known.sum(axis=0)
    costs[""] = -np.log2((repeats + 1) / (chances + 2))
    return costs


def _bits(columns: Sequence[tuple[str, str]], shared: NDArray, costs: NDArray) -> float:
    best: dict[str, float] = defaultdict(float)
    for (task, _), here, cost in zip(columns, shared, costs, strict=True):
        if here:
            best[task] = max(best[task], float(cost))
    return sum(best.values())


def _steps(members: Sequence[Evaluation]) -> list[int]:
    return sorted({one.step for one in members if one.step is not None})


def _twice(members: Sequence[Evaluation], field: str) -> bool:
    """Whether two of them say the same of their file or their weights."""
    said = [getattr(one, field) for one in members if getattr(one, field)]
    return len(set(said)) < len(said)

"""Checkpoints that several series have in common: a start, a branch point, or what should not be there."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ontogeny.audit.finding import Finding, listed

#: A series by its name, and a step of it.
Point = tuple[str, int]


def sharing_findings(
    groups: Sequence[Sequence[Point]], starts: Mapping[str, set[int]], what: str
) -> Iterator[Finding]:
    """What groups of equal points say about the series they belong to.

    Equal points that open every one of their series (`starts`) are one initialisation; at the same step of
    all of them, a shared checkpoint (one finding for each set of series); at other steps, a foreign one.
    """
    shared: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for group in groups:
        steps: dict[str, set[int]] = defaultdict(set)
        for name, step in group:
            steps[name].add(step)
        names = tuple(sorted(steps))
        if len(names) < 2:
            continue
        everywhere = set.union(*steps.values())
        if all(found <= starts[name] for name, found in steps.items()):
            yield _finding("same-initialisation", names, everywhere, f"begin with equal {what}")
        elif common := set.intersection(*steps.values()):
            shared[names] |= common
        else:
            where = "; ".join(f"{name} at {listed(sorted(steps[name]))}" for name in names)
            yield _finding(
                "foreign-checkpoint", names, everywhere, f"have equal {what} at other steps: {where}"
            )
    for names, common in shared.items():
        yield _finding("shared-checkpoint", names, common, f"have equal {what} at {listed(sorted(common))}")


def _finding(kind: str, names: tuple[str, ...], steps: set[int], seen: str) -> Finding:
    numbers = {"series": len(names), "steps": len(steps)}
    return Finding(
        kind, " | ".join(names), f"{len(names)} series {seen}", tuple(sorted(steps)), numbers=numbers
    )


def components(pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Connected components of a graph given by its edges."""
    root: dict[int, int] = {}

    def find(node: int) -> int:
        while root.setdefault(node, node) != node:
            node = root[node]
        return node

    for i, j in pairs:
        root[find(i)] = find(j)
    groups: dict[int, list[int]] = defaultdict(list)
    for node in list(root):
        groups[find(node)].append(node)
    return [sorted(group) for group in groups.values()]

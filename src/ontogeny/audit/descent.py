"""Several series together: shared checkpoints, and series that descend from one another's start."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ontogeny.audit.displacement import RELATED, UNRELATED
from ontogeny.audit.finding import Finding
from ontogeny.audit.imprint import Imprint
from ontogeny.audit.sharing import sharing_findings
from ontogeny.audit.weight_path import WeightPath


def family_findings(series: Mapping[str, Sequence[Imprint]]) -> Iterator[Finding]:
    """Checkpoints that several series share, and series that begin with the start of another.

    A series descends from a start if the entries of its next checkpoint correlate with it (median over
    tensors). `foreign-start`: less than 0.2 with its own and more than 0.5 with another's.
    Misleads: after long training with weight decay nothing of the start is left in any series.
    """
    groups: dict[str, list[tuple[str, int]]] = defaultdict(list)
    starts: dict[str, set[int]] = {}
    for name, members in series.items():
        readable = [one for one in members if one.content]
        starts[name] = {one.step for one in readable if one.content == readable[0].content}
        for one in readable:
            groups[one.content].append((name, one.step))
    yield from sharing_findings([group for group in groups.values() if len(group) > 1], starts, "weights")
    openings = {name: _opening(members) for name, members in series.items()}
    for name, (start, later) in ((n, found) for n, found in openings.items() if found):
        own = relation(start, later)
        for other, found in openings.items():
            if not found or other == name or found[0].content == start.content:
                continue
            theirs = relation(found[0], later)
            if own < UNRELATED and theirs > RELATED:
                seen = (
                    f"step {later.step} has nothing of its own step {start.step} (correlation {own:.2f}), "
                    f"but descends from step {found[0].step} of {other} ({theirs:.2f})"
                )
                numbers = {"own": own, "other": theirs}
                yield Finding("foreign-start", name, seen, (start.step, later.step), numbers=numbers)


def relation(start: Imprint, later: Imprint) -> float:
    """Median over large tensors of the correlation of entries; 0 if there is no tensor to compare."""
    found = WeightPath.of([start, later]).correlations[:, 0, 1]
    return float(np.nanmedian(found)) if np.isfinite(found).any() else 0.0


def _opening(members: Sequence[Imprint]) -> tuple[Imprint, Imprint] | None:
    """The first checkpoint and the first that differs from it."""
    readable = [one for one in members if one.content]
    later = next((one for one in readable if one.content != readable[0].content), None)
    return None if later is None else (readable[0], later)

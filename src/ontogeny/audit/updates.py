"""How far the weights move between checkpoints: outliers, intervals without movement, breaks of descent."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ontogeny.audit.displacement import RELATED, UNRELATED
from ontogeny.audit.finding import Finding, listed
from ontogeny.audit.imprint import Imprint
from ontogeny.audit.weight_path import LARGE, WeightPath

#: An update is an outlier if it is so many times the largest of the four around it: all tensors together, or
#: one tensor. On 26 clean trainings the largest were 1.1 and 1.5.
OUTLIER, OUTLIER_ALONE = 3.0, 6.0
#: A series says what is usual from so many intervals on.
INTERVALS = 5


def update_findings(name: str, path: WeightPath) -> Iterator[Finding]:
    """Outliers among the updates, and links at which the weights descend from something else.

    The size of an update is the root mean square difference of a tensor's entries between two checkpoints,
    per unit of step, of its root, and of its logarithm; whichever makes it least remarkable counts, so that
    neither a change of the spacing nor a schedule is an outlier. The first and the last update have
    neighbours on one side only and are not judged.
    Misleads: a true reset or a spike of the learning rate is an outlier too; a jump during warm-up hides.
    """
    broken = broken_links(path)
    for i in broken:
        relation = float(np.nanmedian(path.correlations[:, i, i + 1]))
        seen = f"from step {path.steps[i]} to {path.steps[i + 1]} nothing is left: correlation {relation:.2f}"
        kind, steps = "broken-chain" if i else "not-descended", (path.steps[i], path.steps[i + 1])
        yield Finding(kind, name, seen, steps, numbers={"correlation": relation})
    sizes = excesses(path)
    for i in range(sizes.shape[1] if len(sizes) else 0):
        together = float(np.median(sizes[:, i]))
        alone = np.flatnonzero(sizes[:, i] > OUTLIER_ALONE).tolist()
        if i in broken or not (together > OUTLIER or alone):
            continue
        tensors = () if together > OUTLIER else tuple(path.names[t] for t in alone)
        ratio = float(np.median(sizes[alone, i])) if tensors else together
        steps = (path.steps[i], path.steps[i + 1])
        seen = (
            f"from step {steps[0]} to {steps[1]}: {listed(tensors) or 'the weights'} moved {ratio:.1f} times "
            "as far as in any of the four intervals around it, per unit of training"
        )
        yield Finding("update-outlier", name, seen, steps, tensors, numbers={"ratio": ratio})


def excesses(path: WeightPath) -> NDArray[np.float64]:
    """Every update over the largest of the two before and the two after it [tensor update].

    Least over the three units of training time; 0 at the ends, and infinite where nothing moved around it.
    """
    steps = np.array(path.steps, dtype=np.float64)
    count = len(steps) - 1
    found = np.zeros((len(path.names), max(count, 0)))
    if count < INTERVALS:
        return found
    found[:, 1:-1] = np.inf
    links = np.diagonal(path.distances, 1, axis1=1, axis2=2).astype(np.float64)
    origin = steps - steps[0] + 1
    for unit in (np.diff(steps), np.sqrt(np.diff(steps)), np.diff(np.log(origin))):
        rates = links / unit
        for i in range(1, count - 1):
            around = [j for j in range(max(0, i - 2), min(count, i + 3)) if j != i]
            most = rates[:, around].max(axis=1)
            ratio = np.divide(rates[:, i], most, out=np.full(len(most), np.inf), where=most > 0)
            found[:, i] = np.minimum(found[:, i], ratio)
    return found


def broken_links(path: WeightPath) -> list[int]:
    """Links at whose two ends the weights have nothing in common, with a whole chain after it.

    The median over tensors of the correlation of entries; before the link at least one checkpoint, after it
    at least two that are related.
    """
    if not path.names or len(path.steps) < 3:
        return []
    correlations = path.correlations
    known = np.isfinite(correlations[:, 0, :]).all(axis=1)
    if not known.any():
        return []
    links = np.median(np.diagonal(correlations[known], 1, axis1=1, axis2=2), axis=0)
    return [i for i in range(len(links) - 1) if links[i] < UNRELATED and links[i + 1] > RELATED]


def stale_findings(name: str, imprints: Sequence[Imprint]) -> Iterator[Finding]:
    """Tensors that stood still in one interval of the series only, while the checkpoint as a whole moved.

    Of large tensors, in series of at least six checkpoints. What stands still for longer is frozen.
    """
    if len(imprints) <= INTERVALS:
        return
    names = set.intersection(*(set(one.tensors) for one in imprints))
    found: dict[int, list[str]] = defaultdict(list)
    for tensor in sorted(names):
        prints = [one.tensors[tensor] for one in imprints]
        still = [i for i in range(len(prints) - 1) if prints[i].hash == prints[i + 1].hash]
        large = int(np.prod(prints[0].shape)) >= LARGE
        if large and len(still) == 1 and imprints[still[0]].content != imprints[still[0] + 1].content:
            found[still[0]].append(tensor)
    for i, tensors in found.items():
        if i == 0:
            continue  # what has not moved yet when the series opens is no old shard
        steps = (imprints[i].step, imprints[i + 1].step)
        seen = (
            f"{listed(tensors)} did not change from step {steps[0]} to {steps[1]}, but in all other intervals"
        )
        yield Finding("stale-tensors", name, seen, steps, tuple(tensors), numbers={"tensors": len(tensors)})

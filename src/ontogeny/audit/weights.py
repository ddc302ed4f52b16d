"""The audit of a series' weights: what each checkpoint is, and whether it lies where its step says."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from ontogeny.audit.finding import Finding
from ontogeny.audit.identity import equality_findings, reading_findings
from ontogeny.audit.imprint import Imprint
from ontogeny.audit.order import interleaved
from ontogeny.audit.placing import displacements, placing_findings
from ontogeny.audit.updates import stale_findings, update_findings
from ontogeny.audit.weight_path import WeightPath


def weight_findings(name: str, imprints: Sequence[Imprint]) -> Iterator[Finding]:
    """Everything found in the weights of one series.

    Equal neighbours count as one point. Checkpoints found out of place are left out before updates are
    judged, so that one fault is reported once.
    Known: a random walk, points about one place, and clean trainings have none of these findings.
    Misleads: distances see 512 entries of each tensor; a checkpoint of another run is not told from this
    one's where the run moves as far between its checkpoints as two seeds lie apart.
    """
    yield from reading_findings(name, imprints)
    yield from equality_findings(name, imprints)
    sound = [one for one in imprints if one.tensors and not any(t.nonfinite for t in one.tensors.values())]
    sound = [next(iter(group)) for _, group in groupby(sound, key=lambda one: one.content)]
    if len(sound) < 3:
        return
    path = WeightPath.of(sound)
    if turns := interleaved(np.sqrt((path.distances.astype(np.float64) ** 2).mean(axis=0))):
        seen = f"two trajectories take turns {turns} times"
        yield Finding("interleaved-runs", name, seen, numbers={"turns": turns})
        return
    away = displacements(path)
    yield from placing_findings(
        name, path, away, {tensor: one.file for tensor, one in sound[-1].tensors.items()}
    )
    left = [one for i, one in enumerate(sound) if i not in away.points]
    yield from stale_findings(name, left)
    yield from update_findings(name, WeightPath.of(left))

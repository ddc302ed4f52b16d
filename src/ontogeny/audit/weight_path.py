"""The path of a series through weight space, one tensor at a time, from the samples of its imprints."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontogeny.audit.imprint import Imprint

#: Tensors with fewer entries wander too freely to be judged by distance; they are compared by hash only.
LARGE = 256


@dataclass(frozen=True)
class WeightPath:
    """Samples and hashes of the large tensors that all checkpoints share and that move.

    samples  [tensor] of [checkpoint entry];  hashes  [tensor checkpoint]
    Large are tensors of at least 256 entries; where all are smaller, the larger half.
    """

    steps: Sequence[int]
    names: Sequence[str]
    samples: Sequence[NDArray[np.float32]]
    hashes: NDArray[np.str_]

    @classmethod
    def of(cls, imprints: Sequence[Imprint]) -> "WeightPath":
        """The path of some checkpoints, in their order."""
        prints = [one.tensors for one in imprints]
        shapes = {name: one.shape for name, one in prints[0].items()} if prints else {}
        moving = [
            name
            for name, shape in shapes.items()
            if all(name in p and p[name].shape == shape and not p[name].nonfinite for p in prints)
            and len({p[name].hash for p in prints}) > 1
        ]
        sizes = {name: int(np.prod(shapes[name])) for name in moving}
        largest = max(sizes.values(), default=0)
        least = LARGE if largest >= LARGE else int(np.median(list(sizes.values()) or [0]))
        names = [name for name in moving if sizes[name] >= least]
        samples = [np.stack([p[name].sample for p in prints]) for name in names]
        hashes = np.array([[p[name].hash for p in prints] for name in names])
        return cls([one.step for one in imprints], names, samples, hashes.reshape(len(names), len(prints)))

    @cached_property
    def distances(self) -> NDArray[np.float32]:
        """Root mean square difference of the entries [tensor checkpoint checkpoint]."""
        count = len(self.steps)
        found = np.zeros((len(self.names), count, count), np.float32)
        for index, rows in enumerate(self.samples):
            for i in range(count - 1):
                gaps = rows[i + 1 :].astype(np.float64) - rows[i]
                found[index, i, i + 1 :] = found[index, i + 1 :, i] = np.sqrt((gaps**2).mean(axis=1))
        return found

    @cached_property
    def correlations(self) -> NDArray[np.float32]:
        """Correlation of the entries; NaN where a tensor is constant [tensor checkpoint checkpoint]."""
        found = np.full((len(self.names), len(self.steps), len(self.steps)), np.nan, np.float32)
        for index, rows in enumerate(self.samples):
            centred = rows.astype(np.float64) - rows.mean(axis=1, keepdims=True)
            norms = np.sqrt((centred**2).sum(axis=1))
            scale = np.outer(norms, norms)
            np.divide(centred @ centred.T, scale, out=found[index], where=scale > 0, casting="unsafe")
        return found

    @cached_property
    def equal(self) -> NDArray[np.bool_]:
        """Whether a tensor is the same bit by bit at two checkpoints [tensor checkpoint checkpoint]."""
        return self.hashes[:, :, None] == self.hashes[:, None, :]

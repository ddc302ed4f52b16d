"""Arrays that a part kept, over the checkpoints of a series; read one by one, when they are asked for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from ontogeny.errors import BadContract, UnknownName
from ontogeny.store.arrays import ArrayPacks
from ontogeny.vocabulary import AXES, Place

#: Reads the array of a hash.
ReadArray = Callable[[str], Tensor]


class ArrayCourse:
    """One array a step. `course[i]` reads the array of `course.steps[i]`; iterating reads them in turn."""

    def __init__(self, steps: Sequence[int], names: Sequence[str], read: ReadArray) -> None:
        self.steps: NDArray[np.int64] = np.asarray(steps, dtype=np.int64)
        self.names = tuple(names)
        self._read = read

    @classmethod
    def of(cls, arrays: Mapping[int, Tensor]) -> Self:
        """Of arrays that are in memory, by step."""
        held = {str(step): array for step, array in sorted(arrays.items())}
        return cls([int(name) for name in held], list(held), held.__getitem__)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Tensor:
        return self._read(self.names[index])

    def __iter__(self) -> Iterator[Tensor]:
        return (self._read(name) for name in self.names)

    def stacked(self) -> Tensor:
        """All of them in memory at once [step, …]; BadContract if they differ in shape."""
        arrays = list(self)
        shapes = {tuple(array.shape) for array in arrays}
        if len(shapes) != 1:
            raise BadContract(
                "these arrays cannot be stacked",
                received=sorted(shapes) or "no arrays",
                allowed="one shape at all steps",
                remedy="read them one by one; the stimulus of some steps may be another one",
            )
        return torch.stack(arrays)


def array_course(
    table: pd.DataFrame, read: ReadArray, part: str, component: str = "", place: Place | None = None
) -> ArrayCourse:
    """The arrays of one component at one place of a table of one part's rows on one stimulus.

    `place` may be left out where there is only one. UnknownName for a component without arrays; BadContract
    where several places have them and none, or not enough, was said.
    """
    kept = table[table["array"] != ""]
    components = set(kept["component"])
    if component not in components:
        raise UnknownName(f"component of {part!r} with arrays", component, components)
    kept = kept[kept["component"] == component]
    for axis, coordinate in (place or {}).items():
        kept = kept[kept[axis] == coordinate]
    axes = [axis for axis in AXES if kept[axis].notna().any()]
    places = len(kept[axes].drop_duplicates()) if axes else 1
    if places > 1:
        raise BadContract(
            f"{part!r} keeps arrays at {places} places",
            received=f"no choice of {', '.join(axes)}",
            allowed="one place",
            remedy=f"say which: arrays({part!r}, {axes[0]}=…)",
        )
    kept = kept.drop_duplicates("step", keep="last").sort_values("step", kind="stable")
    return ArrayCourse(kept["step"].tolist(), kept["array"].tolist(), read)


def stored_arrays(home: Path) -> ReadArray:
    """Reads arrays under `home`, each verified against its name; Damaged if one is missing or wrong."""
    return ArrayPacks(home).read

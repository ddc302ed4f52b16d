"""Where a number belongs: registered axes and the coordinates on them."""

from collections.abc import Iterator, Mapping

from ontogeny.errors import BadContract, UnknownName

#: Registered axes of a place, and the type of their coordinate. `register_axis` adds one.
AXES: dict[str, type] = {
    "layer": int,
    "loop": int,
    "head": int,
    "neuron": int,
    "feature": int,
    "expert": int,
    "position": int,
    "token": int,
    "item": int,
    "site": str,
    "matrix": str,
    "task": str,
}


def register_axis(name: str, kind: type) -> None:
    """Add an axis that rows may carry; the same axis may be registered again with the same type."""
    if kind not in (int, str):
        raise BadContract(f"axis {name!r} has an unusable type", received=kind, allowed="int or str")
    if AXES.setdefault(name, kind) is not kind:
        raise BadContract(f"axis {name!r} is already registered", received=kind, allowed=str(AXES[name]))


class Place(Mapping[str, int | str]):
    """Where a number belongs: coordinates on registered axes, in the axes' own order.

    >>> Place(head=2, layer=3)
    Place(layer=3, head=2)
    """

    __slots__ = ("_items",)

    def __init__(self, **coordinates: int | str) -> None:
        for axis in coordinates:
            if axis not in AXES:
                raise UnknownName("axis", axis, AXES)
        self._items = {axis: AXES[axis](coordinates[axis]) for axis in AXES if axis in coordinates}

    def __getitem__(self, axis: str) -> int | str:
        return self._items[axis]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self._items == other._items

    def __repr__(self) -> str:
        return f"Place({', '.join(f'{axis}={value!r}' for axis, value in self._items.items())})"

    def __str__(self) -> str:
        return " ".join(f"{axis} {value}" for axis, value in self._items.items()) or "whole model"

    def at(self, **coordinates: int | str) -> "Place":
        """This place with further (or other) coordinates."""
        return Place(**{**self._items, **coordinates})

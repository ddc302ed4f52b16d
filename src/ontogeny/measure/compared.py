"""What comparisons see: evidence here and at a reference, at several references, or at two places."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ontogeny.catalogue import Part
from ontogeny.measure.found import Found
from ontogeny.vocabulary import Pair, Place, Reading, Several

#: Evidence of one reference or, by name, of several; a Reading where there is none.
References = Found | Reading | Mapping[str, Found | Reading]


def referred(name: str, index: int, steps: Sequence[int]) -> int | None:
    """Which of a series' checkpoints (their steps, ascending) a reference of this name is; None if none.

    `before` and `after` are the nearest two that lie equally far from the one at `index`.
    """
    if name in ("first", "final"):
        return 0 if name == "first" else len(steps) - 1
    if name in ("before", "after"):
        here, kept = steps[index], {step: at for at, step in enumerate(steps)}
        spans = (here - step for step in reversed(steps[:index]))
        span = next((span for span in spans if here + span in kept), None)
        return None if span is None else kept[here - span if name == "before" else here + span]
    distance = int(name.removeprefix("previous-")) if name != "previous" else 1
    return index - distance if index >= distance else None


def compared(made: Part, at: str, found: Found, there: References, place: Place) -> list[Any]:
    """Every need as a Pair, or as Several; Readings alone where one that is needed is undefined."""
    here = [found.get(need, at, place) for need in made.needs]
    names = made.options["reference"]
    if isinstance(names, str):
        far = [there.get(need, at, place) for need in made.needs] if isinstance(there, Found) else [there]
        gaps = [value for value in (*here, *far) if isinstance(value, Reading)]
        return gaps or [Pair(*both) for both in zip(here, far, strict=True)]
    gaps = [value for value in here if isinstance(value, Reading)]
    by_name = there if isinstance(there, Mapping) else dict.fromkeys(names, there)
    return gaps or [
        Several(value, {name: _at(by_name[name], need, at, place) for name in names})
        for need, value in zip(made.needs, here, strict=True)
    ]


def _at(found: Found | Reading, need: str, at: str, place: Place) -> Any:
    return found if isinstance(found, Reading) else found.get(need, at, place)


def between_places(made: Part, at: str, found: Found) -> Iterator[tuple[Place, Place, list[Any]]]:
    """Every two places of one checkpoint, the earlier first, and every need as the Pair of them."""
    places = found.places(at)
    for index, place in enumerate(places):
        for other in places[index + 1 :]:
            pairs = [Pair(found.get(need, at, place), found.get(need, at, other)) for need in made.needs]
            gaps = [side for pair in pairs for side in pair if isinstance(side, Reading)]
            yield place, other, gaps or pairs

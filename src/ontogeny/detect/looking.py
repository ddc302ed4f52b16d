"""A detector with its parameters, and what it says of every place of a part."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import Part, part
from ontogeny.catalogue.calls import read_call
from ontogeny.detect.candidates import Candidates
from ontogeny.detect.nulls import Drawn, SeriesNull, values_of
from ontogeny.detect.table import Least, least_of
from ontogeny.vocabulary import Located, Transition, Verdict, each_located

#: The null of series that a detector declares for itself.
DEFAULT = "default"


@dataclass(frozen=True)
class Detector:
    """How series are looked at: by which detector, with which parameters, against which null of series."""

    made: Part
    chosen: dict[str, Any]
    null: SeriesNull | None = None

    @classmethod
    def of(cls, text: str, null: str | None = None) -> Self:
        """From names or calls: `pelt(penalty=2)`, `autoregressive(draws=999)`.

        The null `default` is the one the detector declares, with which it is calibrated. UnknownName for a
        detector, a null or a parameter that does not exist.
        """
        name, values = read_call(text, "a detector")
        made = part("detector", name)
        named = made.null if null == DEFAULT else null
        return cls(made, values_of(made, values), None if named is None else SeriesNull.of(named))

    @property
    def settings(self) -> str:
        """Its parameters that differ from the defaults, as text."""
        return self.made.settings(**self.chosen)

    def at(
        self, steps: NDArray, values: NDArray, null: NDArray | None, least: float, *, surrogate: bool
    ) -> tuple[Located, ...]:
        """What it says of one series; `surrogate` says that the null is one of series.

        Where a place has several changes, those too small to tell are left out beside a claim.
        """
        known = {"least": float(least)} if "least" in self.made.parameters else {}
        fitting = self.made.options["surrogate"] if surrogate else {}
        found = each_located(self.made.make(steps, values, null, **{**known, **fitting, **self.chosen}))
        told = tuple(_worth(one, least) for one in found)
        return tuple(one for one in told if one.verdict is Verdict.TRANSITION) or told

    def over(self, candidates: Candidates, least: Least = None) -> Iterator[tuple[Transition, str]]:
        """Every change at every place, and the name of the null it was held against.

        A part's own null is used where it has one, the null of series for all others.
        """
        drawn, name = None, candidates.null_name
        if candidates.null is None and self.null is not None:
            drawn, name = Drawn.of(self.null, candidates), self.null.text
        bound = least_of(least, candidates.part, candidates.unit)
        for index, place in enumerate(candidates.places):
            null = candidates.null if drawn is None else drawn.at(index)
            series = candidates.steps, candidates.values[index]
            for located in self.at(*series, null, bound, surrogate=drawn is not None):
                address = candidates.part, "", place, candidates.stimulus, candidates.unit
                yield Transition(*address, self.made.name, located), name


def locate(
    steps: NDArray,
    values: NDArray,
    *,
    detector: str = "half_rise",
    null: str | NDArray | None = None,
    least: float = 0.0,
) -> tuple[Located, ...]:
    """What a detector says of one series of numbers: steps [checkpoint], increasing, and values [checkpoint].

    `null` names a null of single series (`default`: the detector's own; `autoregressive`, `trend_matched`,
    `circular_shift`), or is one: draws [draw checkpoint]. Without it nothing is claimed. Changes smaller than
    `least` are not claimed.
    Errors: UnknownName for a detector, null or parameter; BadContract for shapes that disagree.
    """
    chosen = Detector.of(detector, null if isinstance(null, str) else None)
    steps, values = np.asarray(steps), np.asarray(values, dtype=np.float64)
    draws = None if isinstance(null, str) else null
    if chosen.null is not None:
        draws = chosen.null.draws(steps, values)
    given = None if draws is None else draws[:, None]
    return chosen.at(steps, values, given, least, surrogate=draws is not None)


def _worth(located: Located, least: float) -> Located:
    """The same; no claim where the change is too small to be worth telling."""
    size = abs(located.size or 0.0)
    if located.verdict is not Verdict.TRANSITION or size >= least:
        return located
    reason = f"too small to tell: {size:.3g}, at least {least:.3g} is asked for"
    return replace(located, verdict=Verdict.NONE, reason="; ".join(filter(None, (reason, located.reason))))

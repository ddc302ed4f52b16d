"""A detector with its parameters, and what it says of every place of a part."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import Part, part
from ontogeny.catalogue.calls import read_call
from ontogeny.detect.candidates import Candidates
from ontogeny.detect.nulls import Drawn, SeriesNull, values_of
from ontogeny.detect.table import Least, least_of
from ontogeny.statistics.examined import one_null
from ontogeny.vocabulary import Located, Transition, Verdict, each_located

#: The null of series that a detector declares for itself.
DEFAULT = "default"
#: Parameters of detectors that are in the series' own unit, beside the least size.
IN_UNITS = {"at", "chance"}


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

    @property
    def _in_units(self) -> bool:
        """Whether it is told anything in the series' own unit, which then must not be scaled."""
        return bool(IN_UNITS & set(self.made.parameters)) or "least" in self.chosen

    def at(
        self, steps: NDArray, values: NDArray, null: NDArray | None, least: float, *, surrogate: bool
    ) -> tuple[Located, ...]:
        """What it says of one series; `surrogate` says that the null is one of series.

        Where a place has several changes, those too small to tell are left out beside a claim.
        """
        known = {"least": float(least)} if "least" in self.made.parameters else {}
        fitting = self.made.options["surrogate"] if surrogate else {}
        found = each_located(self.made.make(steps, values, null, **{**known, **fitting, **self.chosen}))
        return _told(found, least)

    def over(self, candidates: Candidates, least: Least = None) -> list[tuple[Transition, str]]:
        """Every change at every place, and the name of the null it was held against.

        A part's own null is used where it has one, the null of series for all others.
        """
        drawn, name = None, candidates.null_name
        if candidates.null is None and self.null is not None:
            drawn, name = Drawn.of(self.null, candidates), self.null.text
        bound = least_of(least, candidates.part, candidates.unit)
        found = []
        with one_null():
            for index, place in enumerate(candidates.places):
                address = candidates.part, "", place, candidates.stimulus, candidates.unit
                for located in self._at_place(candidates, index, drawn, bound):
                    found.append((Transition(*address, self.made.name, located), name))
        return found

    def _at_place(
        self, candidates: Candidates, index: int, drawn: Drawn | None, least: float
    ) -> tuple[Located, ...]:
        """One place; in units of its noise where that lets all places share one null."""
        steps, values = candidates.steps, candidates.values[index]
        if drawn is None:
            return self.at(steps, values, candidates.null, least, surrogate=False)
        if not drawn.shared(index) or self._in_units:
            return self.at(steps, values, drawn.at(index), least, surrogate=True)
        level, noise = float(drawn.level[index]), float(drawn.noise[index])
        found = self.at(steps, (values - level) / noise, drawn.together, 0.0, surrogate=True)
        return _told(tuple(_scaled(one, noise) for one in found), least)


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


def _told(found: tuple[Located, ...], least: float) -> tuple[Located, ...]:
    """The claims; or, where there is none, everything with its reason."""
    told = tuple(_worth(one, least) for one in found)
    return tuple(one for one in told if one.verdict is Verdict.TRANSITION) or told


def _scaled(located: Located, by: float) -> Located:
    """The same change of a series that is so many times as large."""
    size, sd = (None if value is None else value * by for value in (located.size, located.quiet_sd))
    return replace(located, size=size, quiet_sd=sd)


def _worth(located: Located, least: float) -> Located:
    """The same; no claim where the change is too small to be worth telling."""
    size = abs(located.size or 0.0)
    if located.verdict is not Verdict.TRANSITION or size >= least:
        return located
    reason = f"too small to tell: {size:.3g}, at least {least:.3g} is asked for"
    return replace(located, verdict=Verdict.NONE, reason="; ".join(filter(None, (reason, located.reason))))

"""What series would do by themselves, for numbers whose part has no null of its own."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import Part, parts
from ontogeny.catalogue.calls import read_call
from ontogeny.detect.candidates import Candidates
from ontogeny.errors import UnknownName


def values_of(made: Part, given: dict[str, Any]) -> dict[str, Any]:
    """Parameters as they were written, a whole number for a float taken as one; UnknownName for others."""
    made.bind(**given)
    floats = {key for key, value in made.parameters.items() if isinstance(value, float)}
    return {
        key: float(value) if key in floats and type(value) is int else value for key, value in given.items()
    }


@dataclass(frozen=True)
class SeriesNull:
    """A null of single series, with its parameters."""

    made: Part
    chosen: dict[str, Any]

    @classmethod
    def of(cls, text: str) -> Self:
        """From a name or a call such as `autoregressive(draws=999)`; UnknownName for what is none."""
        name, values = read_call(text, "a null")
        known = {key: one for key, one in parts("null").items() if one.options.get("of") == "series"}
        if name not in known:
            raise UnknownName("null of series", name, known)
        return cls(known[name], values_of(known[name], values))

    @property
    def text(self) -> str:
        """Its name, and what differs from its defaults."""
        said = self.made.settings(**self.chosen)
        return f"{self.made.name}({said})" if said else self.made.name

    def draws(self, steps: NDArray, values: NDArray) -> NDArray:
        """Draws [draw checkpoint] beside values [checkpoint]; NaN where these are."""
        return self.made.make(steps, values, **self.chosen)


@dataclass(frozen=True)
class Drawn:
    """The nulls of all places of a part, each to be held against any of them.

    draws [place draw checkpoint]; level and noise [place], the scale on which places are compared; together
    [draw place checkpoint], all places that have noise, each in its own units.
    """

    draws: NDArray
    level: NDArray
    noise: NDArray
    together: NDArray

    @classmethod
    def of(cls, null: SeriesNull, candidates: Candidates) -> Self:
        """Draws of every place, each from its own series."""
        draws = np.stack([null.draws(candidates.steps, values) for values in candidates.values])
        noise = np.array([_noise(values) for values in candidates.values])
        alive = noise > 0
        level = np.zeros(len(noise))
        level[alive] = np.nanmedian(draws[alive], axis=(1, 2))
        scaled = (draws[alive] - level[alive, None, None]) / noise[alive, None, None]
        return cls(draws, level, noise, np.moveaxis(scaled, 0, 1))

    def shared(self, place: int) -> bool:
        """Whether a place has noise, and others have it too."""
        return bool(self.noise[place] > 0) and self.together.shape[1] > 1

    def at(self, place: int) -> NDArray:
        """The null [draw place checkpoint] of one place: the draws of all places, in its noise.

        The largest over places is then that of the largest change for its noise, whatever the places' scales.
        Places without noise tell nothing of others.
        """
        if not self.shared(place):
            return self.draws[place][:, None]
        return self.level[place] + self.noise[place] * self.together


def _noise(values: NDArray) -> float:
    """Half of the changes from one checkpoint to the next are smaller; 0 where nothing changes."""
    changes = np.abs(np.diff(values[np.isfinite(values)]))
    return float(np.median(changes)) if changes.size else 0.0

"""What every detector keeps, whatever it finds."""

import numpy as np
from numpy.typing import NDArray

from ontogeny.catalogue import Part
from ontogeny.vocabulary import CHANGES, Verdict, each_located

STEPS = np.array([0, 1, 2, 4, 8, 16, 32, 64, 128, *range(150, 1501, 50)])
#: Draws and places of the plain null.
DRAWS, PLACES = 199, 3


def series_with(kind: str, size: float = 1.0) -> NDArray:
    """A series [checkpoint] over `STEPS` in which a change of this kind happens, without noise."""
    place = np.linspace(-1, 1, STEPS.size)
    shapes = {
        "rise": 1.0 * (place > 0),
        "fall": 1.0 * (place <= 0),
        "jump": 1.0 * (place > 0),
        "peak": np.exp(-((place / 0.25) ** 2)),
        "trough": -np.exp(-((place / 0.25) ** 2)),
        "reversal": 1 - np.abs(place),
    }
    return size * shapes[kind]


def poor_series() -> dict[str, NDArray]:
    """Series [checkpoint] over the first steps of `STEPS` of which nothing can be claimed."""
    points = STEPS.size
    holed = np.full(points, np.nan)
    holed[:7] = np.arange(7)
    return {
        "constant": np.ones(points),
        "all but constant": 1e6 + 1e-8 * np.arange(points),
        "not a number": np.full(points, np.nan),
        "infinite": np.full(points, np.inf),
        "two points": np.array([0.0, 1.0]),
        "none": np.zeros(0),
        "seven points": holed,
    }


def check_detector(made: Part) -> None:
    """It claims a plain change of each kind it finds, against a null and only then, and says where.

    Of poor series it claims nothing and says why; values that are not finite are left out and said; the
    answer depends on the data and nothing else.
    """
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.01, (DRAWS, PLACES, STEPS.size))
    for kind in made.options["finds"]:
        assert kind in CHANGES, f"{made.name} finds {kind!r}, which is no kind of change"
        series = series_with(kind) + rng.normal(0, 0.01, STEPS.size)
        null = -noise if kind == "fall" else noise
        settings = {} if kind == "rise" else made.options["surrogate"]
        found = each_located(made.make(STEPS, series, null, **settings))
        claimed = [one for one in found if one.verdict is Verdict.TRANSITION]
        assert claimed, f"{made.name} misses a plain {kind}: {[one.reason for one in found]}"
        for one in claimed:
            assert one.step is not None
            assert one.low is not None
            assert one.high is not None
            assert one.low <= one.step <= one.high
            assert one.kind in ("", *made.options["finds"])
        assert any(one.kind in ("", kind) for one in claimed), f"{made.name} calls a {kind} something else"
        assert list(found) == sorted(found, key=lambda one: one.step or 0.0), "not in order of steps"
        bare = each_located(made.make(STEPS, series, None, **settings))
        assert all(one.verdict is not Verdict.TRANSITION for one in bare), "it claims without a null"
        assert made.make(STEPS.copy(), series.copy(), null.copy(), **settings) in (found, found[0])
        least = 2 * max(abs(one.size or 0.0) for one in claimed)
        small = each_located(made.make(STEPS, series, null, **settings, least=least))
        assert all(one.verdict is not Verdict.TRANSITION for one in small), "`least` is not kept to"
        _check_holes(made, series, null, settings)
    for name, poor in poor_series().items():
        null = noise[:, :, : poor.size]
        for given in (null, None):
            for one in each_located(made.make(STEPS[: poor.size], poor, given)):
                assert one.verdict is not Verdict.TRANSITION, f"{made.name} claims of a series that is {name}"
                assert one.reason, f"{made.name}: nothing is claimed of {name}, and no reason given"


def _check_holes(made: Part, series: NDArray, null: NDArray, settings: dict) -> None:
    holed, holes = series.copy(), null.copy()
    holed[[2, 30]] = np.nan, np.inf
    holes[:, 0] = np.nan
    holes[:, :, 5] = np.nan
    found = each_located(made.make(STEPS, holed, holes, **settings))
    assert any(one.verdict is Verdict.TRANSITION for one in found), f"{made.name} is blinded by two holes"
    said = [one.reason for one in found]
    assert all("2 checkpoints left out" in reason for reason in said), f"{made.name} hides holes: {said}"

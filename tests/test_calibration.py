"""A small calibration of every detector: rates that a hundred series could not hide."""

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


def load():
    sys.path.insert(0, str(FOLDER))
    spec = importlib.util.spec_from_file_location("calibration", FOLDER / "calibration.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["calibration"] = module
    spec.loader.exec_module(module)
    return module


calibration = load()


@pytest.mark.parametrize("cell", ["white noise", "AR(0.7)", "exponential, noise .1"])
def test_false_alarms_are_rare(cell):
    """Of 50 series, a true rate of 5 % gives more than 8 claims once in six hundred times."""
    _, counts = calibration.counted((cell, 1000))
    for name, count in counts.items():
        if name != "CUSUM":
            assert count["claimed"] <= 8, name
            assert count["answered"] >= 0.8 * count["trials"], name
    assert counts["CUSUM"]["claimed"] > 8


@pytest.mark.parametrize("cell", ["step of 4 sds", "bump of 4 sds", "tent of 4 sds"])
def test_changes_are_found_and_covered(cell):
    _, counts = calibration.counted((cell, 1000))
    for name, count in counts.items():
        assert count["claimed"] >= 34, name
        assert count["covered"] >= 41, name


def test_a_bound_is_met_by_its_interval():
    assert calibration.interval(0, 100) == pytest.approx((0, 3.62), abs=0.01)
    low, high = calibration.interval(100, 2000)
    assert low < 5 < high
    assert calibration.interval(130, 2000)[0] > 5

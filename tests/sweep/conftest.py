"""Plans of tiny runs."""

import signal

import pytest

from ontogeny.sweep import Planned
from tiny_recipe import tiny

RECORDING = {"every": 4, "dense_until": 0, "evaluate": 8}


@pytest.fixture
def plan():
    """`plan(count, steps)`: tiny recipes under the seeds 0 to count - 1."""

    def make(count: int, steps: int = 12) -> list[Planned]:
        trainings = [{"steps": steps, "clip": 1.0, "seed": seed} for seed in range(count)]
        return [
            Planned(
                f"seed-{training['seed']}",
                tiny(model={"mlp": "none"}, training=training, recording=RECORDING),
            )
            for training in trainings
        ]

    return make


@pytest.fixture
def interruptible():
    """Ctrl-C as in a shell: the workers of pytest-xdist ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

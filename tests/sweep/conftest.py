"""Plans of tiny runs."""

import signal

import pytest

from ontogeny.record.recipe import Recipe
from ontogeny.sweep import Planned

TABLES = {
    "title": "tiny",
    "model": {"width": 16, "layers": 1, "heads": 2, "mlp": "none"},
    "objective": {
        "name": "copied_segments",
        "vocabulary": 12,
        "context": 16,
        "batch": 4,
        "shortest": 3,
        "longest": 6,
    },
    "optimizer": {"name": "adamw", "lr": 0.01},
    "training": {"steps": 12, "clip": 1.0},
    "recording": {"every": 4, "dense_until": 0, "evaluate": 8},
}


@pytest.fixture
def plan():
    """`plan(count, steps)`: tiny recipes under the seeds 0 to count - 1."""

    def make(count: int, steps: int = 12) -> list[Planned]:
        return [
            Planned(
                f"seed-{seed}",
                Recipe.from_document({**TABLES, "training": {"steps": steps, "clip": 1.0, "seed": seed}}),
            )
            for seed in range(count)
        ]

    return make


@pytest.fixture
def interruptible():
    """Ctrl-C as in a shell: the workers of pytest-xdist ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

from dataclasses import replace

import numpy as np

from ontogeny.detectors import peak, trough
from ontogeny.nulls import monotone

STEPS = np.arange(60)


def test_it_is_the_peak_turned_over():
    rng = np.random.default_rng(0)
    for size in (0, 3, 6):
        series = size * np.exp(-(((STEPS - 30) / 4) ** 2) / 2) + rng.normal(size=60)
        null = monotone(STEPS, series)[:, None]
        up, down = peak(STEPS, series, null), trough(STEPS, -series, -null)
        assert down.kind == "trough"
        assert replace(down, size=-down.size, kind="peak") == up

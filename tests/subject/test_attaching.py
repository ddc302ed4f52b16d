"""Attaching asks torch for nothing, and leaves no handle and no memory; times: benchmarks/attach_cost.py."""

import gc
import os
from pathlib import Path

import pytest
from torch.utils._python_dispatch import TorchDispatchMode

from ontogeny.anatomy import TAPPABLE
from ontogeny.subject import Subject

STAT = Path("/proc/self/statm")


class Operations(TorchDispatchMode):
    """What torch is asked to do, in order."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.asked.append(str(function))
        return function(*args, **(kwargs or {}))


def look(place, tensor):
    pass


def test_reading_residuals_asks_torch_for_nothing_more(model, tokens):
    subject, asked = Subject(model), []
    for taps in ({}, {"residual": look}, {"attention": look}):
        with Operations() as operations:
            subject.run(tokens, taps=taps)
        asked.append(operations.asked)
    plain, residual, attention = asked
    assert residual == plain
    assert any("scaled_dot_product" in name for name in plain)
    assert attention != plain, "patterns take eager attention"


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    return int(STAT.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def handles(model) -> int:
    return sum(
        len(m._forward_hooks) + len(m._forward_pre_hooks) + len(m._backward_hooks) for m in model.modules()
    )


@pytest.mark.parametrize("sites", ["two", pytest.param("all", marks=pytest.mark.slow)])
@pytest.mark.skipif(not STAT.exists(), reason="memory is read from /proc")
def test_a_thousand_looks_leave_no_handle_and_no_memory(built, tokens, sites):
    subject = Subject(built("llama"))
    chosen = ("residual", "attention") if sites == "two" else TAPPABLE
    taps = {site: look for site in chosen if site != "module" and subject.observable(site)}
    assert handles(subject.model) == 0
    started = 0
    for round_ in range(1100):
        if round_ == 100:
            started = resident()
        with subject.watching(taps):
            if round_ % 100 == 0:
                subject.run(tokens, taps=taps)
    assert resident() - started <= 5 * 2**20
    assert handles(subject.model) == 0

"""What a step holds in memory, told before a run."""

import subprocess
import sys

import pytest
import torch

from ontogeny.record.estimate import estimate
from ontogeny.record.memory import SavedForBackward, step_bytes
from ontogeny.record.training import Training, objective_of
from tiny_recipe import tiny


def training(path, vocabulary: int) -> Training:
    recipe = tiny(objective={"vocabulary": vocabulary, "context": 64, "batch": 8})
    return Training(recipe, objective_of(recipe, path / "run"))


def test_what_is_saved_counts_once_and_is_given_back():
    weight = torch.nn.Parameter(torch.ones(4, 4))
    given = torch.ones(100, 4)
    saved = SavedForBackward(iter([weight]))
    for _ in range(2):
        with saved.counting():
            found = (given @ weight).tanh()  # keeps what was given, and its own output
            (found * 2).sum().backward()
        del found
        assert (saved.most, saved.largest) == (3200, 1600), "nothing of the first pass is left in the second"


def test_parameters_gradients_and_moments_are_counted(tmp_path):
    small = training(tmp_path, 12)
    parameters = sum(p.numel() * 4 for p in small.model.parameters())
    assert step_bytes(small) > 4 * parameters


def test_f70_logits_of_a_large_vocabulary_are_in_the_estimate(tmp_path):
    small, large = (training(tmp_path, vocabulary) for vocabulary in (12, 4012))
    logits = 8 * 63 * 4000 * 4
    embedding = 4 * 4000 * 16 * 4  # with its gradient and both moments
    grown = estimate(large).memory_bytes - estimate(small).memory_bytes
    assert 2.5 * logits <= grown - embedding <= 4 * logits


GROWN = """
import resource, sys, torch
from pathlib import Path
sys.path[:0] = ["tests/record", "tests"]
from test_memory import step_bytes, training
torch.set_num_threads(1)
step_bytes(training(Path(sys.argv[1]), 12))
before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
said = step_bytes(training(Path(sys.argv[1]), 120_000))
print(said, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_it_is_about_what_a_process_grows_by(tmp_path, pytestconfig):
    command = [sys.executable, "-c", GROWN, str(tmp_path)]
    found = subprocess.run(command, cwd=pytestconfig.rootpath, capture_output=True, text=True, check=True)
    said, grown = map(int, found.stdout.split())
    assert 0.7 <= said / grown <= 1.5

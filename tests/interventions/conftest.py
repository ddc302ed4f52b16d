"""What the tests of interventions share: a tiny training, stepped as the recorder steps it."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from ontogeny.record.training import Step, Training

torch.set_num_threads(1)


@pytest.fixture
def run() -> Callable[..., list[Step]]:
    """Take some steps of a training."""

    def take(training: Training, steps: int = 1) -> list[Step]:
        found = []
        for _ in range(steps):
            found.append(training.step())
            training.state["counters"].step += 1
        return found

    return take


@pytest.fixture
def weights() -> Callable[[Training], dict[str, Tensor]]:
    """A copy of all parameters by name."""
    return lambda training: {n: p.detach().clone() for n, p in training.model.named_parameters()}

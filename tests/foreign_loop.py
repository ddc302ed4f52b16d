"""A loop that is not ours: dropout, noise and choices from three global generators, a schedule of its own."""

import random

import numpy as np
import torch
from torch import nn

from ontogeny.record.recorder import Recorder
from ontogeny.store.run import Run

STEPS, KEPT = 12, {0, 5, 9}


def made():
    """A model with dropout, an optimizer and a schedule, always of the same shapes."""
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.3), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    return model, optimizer, torch.optim.lr_scheduler.MultiStepLR(optimizer, [3, 7])


def advance(state, batch):
    """Draws from three global generators: dropout, NumPy's noise, Python's choice of a scale."""
    (inputs, targets), facts = batch
    noise = torch.from_numpy(np.random.standard_normal(inputs.shape).astype("f4"))
    state["model"].train()
    found = state["model"](inputs + 0.1 * noise) * random.choice([1.0, 2.0])
    loss = (found - targets).square().mean() * facts["weight"]
    state["optimizer"].zero_grad()
    loss.backward()
    state["optimizer"].step()
    state["schedule"].step()
    return loss


def batch_of(step: int):
    rng = torch.Generator().manual_seed(step % 5)  # the batches come again
    pair = torch.randn(4, 6, generator=rng), torch.randn(4, 3, generator=rng)
    return pair, {"weight": 0.5 + step % 5, "name": f"batch {step % 5}", "none": None}


def recorded(path, *, tape=True, steps=STEPS, between=lambda step: None, **options) -> Run:
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    model, optimizer, schedule = made()
    options = {
        "advance": advance,
        "tape": tape,
        "checkpoints": KEPT,
        "parts": {"schedule": schedule},
        **options,
    }
    with Recorder(path, model, optimizer, **options) as recorder:
        for step in range(1, steps + 1):
            between(step)
            recorder.advance(batch_of(step), tokens=24, samples=4)
    return Run.open(path)


def loader(step: int) -> None:
    """Moves the global generators between the steps, as loaders and evaluations do."""
    if step % 2:
        torch.rand(step)
    if step % 3 == 0:
        np.random.random()
        random.random()

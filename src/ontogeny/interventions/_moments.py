"""The optimizer's running averages, as far as an intervention makes them void."""

from collections.abc import Mapping

import torch
from torch import nn

from ontogeny.interventions._acting import Acting

#: A parameter and the part of it that is meant: an index such as `slice(0, 4)`.
Slices = Mapping[nn.Parameter, tuple[slice, ...]]


def void_moments(acting: Acting, optimizer: torch.optim.Optimizer, slices: Slices) -> None:
    """0 into every average over these slices; counts are left, as a parameter has one for all its entries."""
    for parameter, place in slices.items():
        for average in optimizer.state.get(parameter, {}).values():
            if isinstance(average, torch.Tensor) and average.shape == parameter.shape:
                acting.write(average[place], torch.zeros_like(average[place]))


def void_counts(acting: Acting, optimizer: torch.optim.Optimizer, slices: Slices) -> None:
    """0 into every count of updates, so that bias correction begins anew."""
    for parameter in slices:
        count = optimizer.state.get(parameter, {}).get("step")
        if isinstance(count, torch.Tensor):
            acting.write(count, torch.zeros_like(count))

"""Where gradients point: that of a few rows, that of many, and the angle between them."""

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from ontogeny.catalogue import Batch, Objective


def summed_gradient(
    model: nn.Module, parameters: Sequence[nn.Parameter], objective: Objective, batches: Iterable[Batch]
) -> list[Tensor]:
    """The gradient of the weighted sum of all losses, in eval mode and float64; no `.grad` is touched."""
    total = [torch.zeros_like(parameter, dtype=torch.float64) for parameter in parameters]
    training = model.training
    model.eval()
    try:
        for batch in batches:
            losses = objective.loss(model, batch)
            loss = (losses.values * losses.weights).sum()
            found = torch.autograd.grad(loss, list(parameters), allow_unused=True)
            for sum_, gradient in zip(total, found, strict=True):
                if gradient is not None:
                    sum_ += gradient
    finally:
        model.train(training)
    return total


def direction_error(one: Sequence[Tensor], other: Sequence[Tensor]) -> float:
    """1 − cos of the angle between two gradients: 0 parallel, 1 orthogonal, 2 opposite; NaN where one is
    0."""
    inner, first, second = 0.0, 0.0, 0.0
    for tensors in zip(one, other, strict=True):
        a, b = (tensor.detach().double().flatten() for tensor in tensors)
        inner, first, second = inner + float(a @ b), first + float(a @ a), second + float(b @ b)
    lengths = math.sqrt(first) * math.sqrt(second)
    return 1 - inner / lengths if lengths > 0 else math.nan

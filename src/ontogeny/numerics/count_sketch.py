"""A short linear image of many numbers that keeps inner products: CountSketch."""

from collections.abc import Mapping

import torch
from torch import Tensor

from ontogeny.vocabulary import Streams

#: Coordinates of a sketch.
WIDTH = 4096


def count_sketch(tensors: Mapping[str, Tensor], width: int = WIDTH) -> Tensor:
    """All elements, each with a sign of its own added to one of `width` coordinates, float64 [width].

    Linear, so that differences of sketches are sketches of differences. Signs and coordinates are fixed by a
    tensor's name and size. A single tensor of at most `width` elements is given as it is.
    Known: E ⟨Sx, Sy⟩ = ⟨x, y⟩, with a standard deviation of about ‖x‖ ‖y‖ √(2 / width).
    Misleads: a few very large elements that meet in one coordinate are not told apart.
    """
    if len(tensors) == 1:
        (only,) = tensors.values()
        if only.numel() <= width:
            return _flat(only)
    total = torch.zeros(width, dtype=torch.float64)
    for name, tensor in tensors.items():
        values = _flat(tensor)
        rng = Streams(0).generator("measurement", place=f"count_sketch {name} {len(values)}")
        drawn = torch.randint(2 * width, (len(values),), generator=rng)
        total.index_add_(0, drawn // 2, values * (1 - 2 * (drawn % 2)))
    return total


def _flat(tensor: Tensor) -> Tensor:
    # Apple's accelerator has no float64.
    return tensor.detach().cpu().to(torch.float64).flatten()

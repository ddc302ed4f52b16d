"""Euclidean norms of many tensors at once: the same code for a training loop and for whoever reads a step."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

# One kernel call for many tensors, as torch's own optimizers make it; torch has no public name for it.
_foreach_norm: Any = torch._foreach_norm  # pyright: ignore[reportPrivateImportUsage]

#: Below this a weight counts as zero-initialised, and a ratio to it as undefined.
ZERO_WEIGHT = 1e-12


def squares(tensors: Sequence[Tensor]) -> list[float]:
    """Squared Frobenius norm of each tensor, one transfer for all; half precision and complex are upcast.

    Non-finite entries give a non-finite value, which is data. Float32 kernels agree with float64 to 1e-6.
    """
    return squared(norms(tensors))


def norms(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Frobenius norm of each tensor, still where the tensor is."""
    return list(_foreach_norm([upcast(tensor) for tensor in tensors])) if tensors else []


def squared(found: Sequence[Tensor]) -> list[float]:
    """Squares of norms, as numbers."""
    if not found:
        return []
    # Where reading costs no transfer, stacking first takes longer than reading one by one.
    on_cpu = found[0].device.type == "cpu"
    numbers = [norm.item() for norm in found] if on_cpu else torch.stack(tuple(found)).tolist()
    return [norm * norm for norm in numbers]


def root_of_sum(squared_norms: Iterable[float]) -> float:
    """The norm of several tensors together."""
    return math.sqrt(sum(squared_norms))


def ratio(update: float, weight: float) -> float:
    """‖Δθ‖ / ‖θ‖; NaN where the weight is zero."""
    return update / weight if weight >= ZERO_WEIGHT else math.nan


def decay_norm(shares: Sequence[float], squared_weights: Sequence[float]) -> float:
    """‖ηλθ‖: the part of an update that decoupled decay makes; `shares` are ηλ, one a tensor."""
    return root_of_sum(
        [share * share * weight for share, weight in zip(shares, squared_weights, strict=True)]
    )


def upcast(tensor: Tensor) -> Tensor:
    """Its entries as real numbers in float32 or better; of a sparse one those that it holds."""
    if tensor.dtype is torch.float32 and not tensor.is_sparse:
        return tensor
    if tensor.is_sparse:
        tensor = tensor.coalesce().values()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def vector(tensor: Tensor) -> Tensor:
    """All its entries, zeros of a sparse one included, as one real vector in float64."""
    whole = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
    return upcast(whole).flatten().double()

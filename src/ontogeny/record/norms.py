"""Norms of gradients and updates, whole and by module, in one sweep a step (TEL-01, TEL-02)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

# One kernel call for many tensors, as torch's own optimizers make it; torch has no public name for it.
_foreach_norm: Any = torch._foreach_norm  # pyright: ignore[reportPrivateImportUsage]
_foreach_copy_: Any = torch._foreach_copy_  # pyright: ignore[reportPrivateImportUsage]
_foreach_sub_: Any = torch._foreach_sub_  # pyright: ignore[reportPrivateImportUsage]

#: Below this a weight counts as zero-initialised, and a ratio to it as undefined.
ZERO_WEIGHT = 1e-12
_WRAPPERS = ("module.", "_orig_mod.", "_fsdp_wrapped_module.")


def canonical_name(name: str) -> str:
    """A parameter's name without the prefixes that wrappers add, in any order and depth."""
    parts = [part for part in name.split(".") if f"{part}." not in _WRAPPERS]
    return ".".join(parts)


def named_trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """Parameters by canonical name, tied ones once."""
    return {canonical_name(name): parameter for name, parameter in model.named_parameters()}


def norm_groups(parameters: Mapping[str, Tensor]) -> dict[str, list[int]]:
    """A partition of the parameters: every matrix on its own, then `norms` and `biases`."""
    groups: dict[str, list[int]] = {}
    for index, (name, parameter) in enumerate(parameters.items()):
        if parameter.ndim >= 2:
            group = name.removesuffix(".weight")
        else:
            group = "biases" if name.endswith("bias") else "norms"
        groups.setdefault(group, []).append(index)
    return groups


def squares(tensors: Sequence[Tensor]) -> list[float]:
    """Squared Frobenius norm of each tensor, one transfer for all; half precision and complex are upcast.

    Non-finite entries give a non-finite value, which is data. Float32 kernels agree with float64 to 1e-6.
    """
    if not tensors:
        return []
    wide = [_upcast(tensor) for tensor in tensors]
    norms = torch.stack(_foreach_norm(wide)).double()
    return norms.square().tolist()


def _upcast(tensor: Tensor) -> Tensor:
    if tensor.is_sparse:
        tensor = tensor.coalesce().values()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


@dataclass(frozen=True)
class Grouped:
    """A norm over everything, and over each group of the partition."""

    total: float
    by_group: Mapping[str, float]


def grouped(values: Sequence[float], groups: Mapping[str, Sequence[int]]) -> Grouped:
    """Root of summed squares, whole and by group; NaN entries are parameters without a gradient."""
    by_group = {}
    for name, indices in groups.items():
        present = [values[i] for i in indices if values[i] >= 0 or math.isnan(values[i])]
        if present:
            by_group[name] = math.sqrt(sum(present)) if not math.isnan(sum(present)) else math.nan
    return Grouped(math.sqrt(sum(v for v in values if not v < 0)), by_group)


class UpdateNorms:
    """Watches parameters across optimizer steps: ‖Δθ‖ and ‖θ‖ of each, through one extra copy of them.

    Between steps it keeps the copy current; if anybody else writes to a parameter in between, its version
    counter tells, and the copy is taken afresh before the next step.
    """

    def __init__(self, parameters: Mapping[str, Tensor]) -> None:
        self.parameters = [p.detach() for p in parameters.values()]
        self.before = [p.clone() for p in self.parameters]
        self.versions = [p._version for p in self.parameters]
        self.weights = squares(self.before)

    def prepare(self) -> None:
        """Call right before the optimizer's step."""
        versions = [p._version for p in self.parameters]
        if versions != self.versions:
            _foreach_copy_(self.before, self.parameters)
            self.weights = squares(self.before)

    def measure(self) -> tuple[list[float], list[float]]:
        """Call right after it: squared norms of Δθ, and of θ before the step, for each parameter."""
        _foreach_sub_(self.before, self.parameters)
        changes, weights = squares(self.before), self.weights
        _foreach_copy_(self.before, self.parameters)
        self.weights = squares(self.parameters)
        self.versions = [p._version for p in self.parameters]
        return changes, weights

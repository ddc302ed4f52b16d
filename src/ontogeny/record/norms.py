"""Norms of gradients and updates, whole and by module, in one sweep a step (TEL-01, TEL-02)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ontogeny.formats.canonical import canonical_name
from ontogeny.numerics.norms import norms, root_of_sum, squared, squares

# One kernel call for many tensors, as torch's own optimizers make it; torch has no public name for them.
_foreach_norm: Any = torch._foreach_norm  # pyright: ignore[reportPrivateImportUsage]
_foreach_copy_: Any = torch._foreach_copy_  # pyright: ignore[reportPrivateImportUsage]
_foreach_sub_: Any = torch._foreach_sub_  # pyright: ignore[reportPrivateImportUsage]

BLOCK_BYTES = 1 << 20


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


@dataclass(frozen=True)
class Grouped:
    """A norm over everything, and over each group of the partition."""

    total: float
    by_group: Mapping[str, float]


def grouped(values: Sequence[float], groups: Mapping[str, Sequence[int]]) -> Grouped:
    """Root of summed squares, whole and by group; negative entries are parameters without a gradient."""
    by_group = {}
    for name, indices in groups.items():
        if len(indices) == 1:  # nearly all of them, and this is done three times a step
            if not values[indices[0]] < 0:
                by_group[name] = math.sqrt(values[indices[0]])
        elif present := [values[i] for i in indices if not values[i] < 0]:
            by_group[name] = root_of_sum(present)
    return Grouped(root_of_sum([v for v in values if not v < 0]), by_group)


def _cache_blocks(tensors: Sequence[Tensor]) -> list[list[int]]:
    """Consecutive tensors of about a mebibyte, so that four sweeps over them meet memory once.

    Elsewhere than on the CPU a block costs a launch and there is one.
    """
    blocks: list[list[int]] = [[]]
    size = 0
    for index, tensor in enumerate(tensors):
        if size >= BLOCK_BYTES and tensor.device.type == "cpu":
            blocks.append([])
            size = 0
        blocks[-1].append(index)
        size += tensor.nbytes
    return blocks


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
        plain = all(p.dtype is torch.float32 and not p.is_sparse for p in self.parameters)
        self._norms = _foreach_norm if plain else norms
        self._blocks = [
            ([self.before[i] for i in block], [self.parameters[i] for i in block])
            for block in _cache_blocks(self.parameters)
            if block
        ]

    def prepare(self) -> None:
        """Call right before the optimizer's step."""
        if not self.parameters:
            return
        versions = [p._version for p in self.parameters]
        if versions != self.versions:
            _foreach_copy_(self.before, self.parameters)
            self.weights = squares(self.before)

    def measure(self) -> tuple[list[float], list[float]]:
        """Call right after it: squared norms of Δθ, and of θ before the step, for each parameter."""
        changes: list[Tensor] = []
        weights: list[Tensor] = []
        for before, parameters in self._blocks:
            _foreach_sub_(before, parameters)
            changes += self._norms(before)
            _foreach_copy_(before, parameters)
            weights += self._norms(parameters)
        found = squared([*changes, *weights])
        earlier, self.weights = self.weights, found[len(changes) :]
        self.versions = [p._version for p in self.parameters]
        return found[: len(changes)], earlier

"""The digest of a model's parameters and buffers, cheap enough to take at every step."""

from typing import Any

import torch
import xxhash
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ontogeny.formats.canonical import canonical_name
from ontogeny.vocabulary import tensor_digest, tensor_head


def persistent_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and saved buffers by canonical name, in the order of the state dict, tied ones once; lazy
    ones, which have no values yet, are left out."""
    found: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if isinstance(tensor, Tensor) and id(tensor) not in seen and not is_lazy(tensor):
            seen.add(id(tensor))
            found[canonical_name(name)] = tensor.detach()
    return found


#: How many tensors' checks one 64-bit metric holds.
PACKED = 4


class ModelDigest:
    """xxh3-64 over all persistent tensors; equals `vocabulary.digest` of them.

    On the CPU the bytes are looked at in place; the look-up is renewed when a tensor has moved. `checks` adds
    sixteen bits for each tensor, packed four to a metric, so that a replay can name the first that differs.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self._tensors: list[Tensor] = []
        self._lazy: list[Any] = []
        self._pointers: list[int] = []
        self._heads: list[bytes] = []
        self._views: list[memoryview] = []
        self._metrics: list[str] = []

    def renew(self) -> None:
        """Look up the tensors afresh: the model has other ones than before."""
        self._tensors = []

    def __call__(self) -> int:
        return self.with_checks()[0]

    def checks(self) -> dict[str, int]:
        """Sixteen bits of each tensor's own digest, in the order of `names`."""
        return self.with_checks()[1]

    def with_checks(self) -> tuple[int, dict[str, int]]:
        """The digest and the checks; every byte is hashed once."""
        self._follow()
        if self._views:
            found = [xxhash.xxh3_64_intdigest(body) for body in self._views]
        else:
            found = [tensor_digest(tensor) for tensor in self._tensors]
        state = xxhash.xxh3_64()
        for head, one in zip(self._heads, found, strict=True):
            state.update(head + one.to_bytes(8, "little"))
        return state.intdigest(), self._packed([one & 0xFFFF for one in found])

    def _packed(self, bits: list[int]) -> dict[str, int]:
        return {
            metric: sum([b << 16 * k for k, b in enumerate(bits[start : start + PACKED])])
            for start, metric in zip(range(0, len(bits), PACKED), self._metrics, strict=True)
        }

    @property
    def names(self) -> list[str]:
        """The tensors looked at, by canonical name."""
        return list(persistent_tensors(self.model))

    def _follow(self) -> None:
        born = any(not is_lazy(tensor) for tensor in self._lazy)
        if born or not self._tensors or [t.data_ptr() for t in self._tensors] != self._pointers:
            self._look()

    def _look(self) -> None:
        self._tensors = list(persistent_tensors(self.model).values())
        self._lazy = [t for t in self.model.state_dict(keep_vars=True).values() if is_lazy(t)]
        self._pointers = [t.data_ptr() for t in self._tensors]
        plain = all(t.device.type == "cpu" and t.is_contiguous() and t.numel() for t in self._tensors)
        self._heads = [tensor_head(t) for t in self._tensors]
        self._views = [_view(t) for t in self._tensors] if plain else []
        self._metrics = [f"tensor_check/{k}" for k in range(-(-len(self._tensors) // PACKED))]


def _view(tensor: Tensor) -> memoryview:
    return memoryview(tensor.view(-1).view(torch.uint8).numpy())  # pyright: ignore[reportArgumentType]

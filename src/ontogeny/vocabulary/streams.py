"""Keyed random generators, and the digest that says whether two sets of tensors are the same bits."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import xxhash
from torch import Tensor


@dataclass(frozen=True)
class Streams:
    """Random generators keyed by (seed, step, stream, place), so that no two uses ever share one.

    An intervention on one stream leaves the draws of the others unchanged; a step's numbers do not
    depend on how many were drawn before it.
    """

    seed: int

    def key(self, stream: str, step: int = 0, place: str = "") -> int:
        return xxhash.xxh3_64_intdigest(f"{self.seed}\x1f{step}\x1f{stream}\x1f{place}".encode()) >> 1

    def generator(
        self, stream: str, step: int = 0, place: str = "", device: torch.device | str = "cpu"
    ) -> torch.Generator:
        return torch.Generator(device).manual_seed(self.key(stream, step, place))


def tensor_digest(tensor: Tensor) -> int:
    """xxh3-64 over the bytes of one tensor, whatever its shape and dtype."""
    if not tensor.numel():
        return xxhash.xxh3_64_intdigest(b"")
    raw = tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy()
    return xxhash.xxh3_64_intdigest(memoryview(raw))  # pyright: ignore[reportArgumentType]  # a buffer


def tensor_head(tensor: Tensor) -> bytes:
    """Shape and dtype of a tensor, as they enter a digest."""
    return f"{tuple(tensor.shape)}{tensor.dtype}".encode()


def digest(tensors: Sequence[Tensor]) -> int:
    """xxh3-64 over shape, dtype and `tensor_digest` of each tensor in order; equal bits, equal digests."""
    state = xxhash.xxh3_64()
    for tensor in tensors:
        state.update(tensor_head(tensor) + tensor_digest(tensor).to_bytes(8, "little"))
    return state.intdigest()

"""What a training step holds in memory at once, counted while one is taken."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from ontogeny.record.training import Training


class SavedForBackward:
    """Bytes that autograd keeps for the backward pass: the most at one time, and the largest single tensor.

    A storage counts once however many views of it are kept; those in `apart` (parameters) do not count.
    """

    def __init__(self, apart: Iterator[Tensor]) -> None:
        self.most = self.largest = 0
        self._now = 0
        self._apart = {tensor.untyped_storage().data_ptr() for tensor in apart}
        self._users: Counter[int] = Counter()

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what is saved inside."""
        with torch.autograd.graph.saved_tensors_hooks(lambda tensor: _Kept(tensor, self), _Kept.given_back):
            yield

    def take(self, tensor: Tensor) -> None:
        key, size = _storage(tensor)
        if key in self._apart:
            return
        self._users[key] += 1
        if self._users[key] == 1:
            self._now += size
            self.most, self.largest = max(self.most, self._now), max(self.largest, size)

    def release(self, tensor: Tensor) -> None:
        key, size = _storage(tensor)
        if key in self._apart:
            return
        self._users[key] -= 1
        if not self._users[key]:
            self._now -= size


class _Kept:
    """A saved tensor for as long as the graph holds it."""

    def __init__(self, tensor: Tensor, counts: SavedForBackward) -> None:
        self.tensor, self.counts = tensor, counts
        counts.take(tensor)

    def given_back(self) -> Tensor:
        return self.tensor

    def __del__(self) -> None:
        self.counts.release(self.tensor)


def _storage(tensor: Tensor) -> tuple[int, int]:
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.nbytes()


def step_bytes(training: Training) -> int:
    """Take a step, and say what it held at its largest.

    Parameters, gradients and optimizer state; what is saved for the backward pass; and twice the largest of
    that, for its gradient and what the gradient is made of: with a large vocabulary it is the logits.
    Known: 1.03 of what a process grew by where logits are 242 MB; 0.7 where nothing is large.
    Misleads: allocators and libraries take more, and checkpoints being written in the background too.
    """
    saved = SavedForBackward(training.model.parameters())
    with saved.counting():
        training.step()
    held = [*training.model.parameters()]
    held += [p.grad for p in training.model.parameters() if p.grad is not None]
    held += [
        value
        for state in training.optimizer.state.values()
        for value in state.values()
        if isinstance(value, Tensor)
    ]
    return sum(t.numel() * t.element_size() for t in held) + saved.most + 2 * saved.largest

"""How active each neuron of an MLP is, position 0 apart: sums over all tokens of a pass."""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.evidence.kinds import View, streamed


class Activity(NamedTuple):
    """Of n tokens: Σ|a| and Σa² of every neuron [neuron] in float64, and how many values are exactly 0."""

    size: Tensor
    energy: Tensor
    zeros: Tensor
    n: int

    def plus(self, other: "Activity") -> "Activity":
        """Over the tokens of both."""
        size, energy = self.size + other.size, self.energy + other.energy
        return Activity(size, energy, self.zeros + other.zeros, self.n + other.n)


class Activities(NamedTuple):
    """Activity at positions 1 …, and at position 0."""

    rest: Activity
    first: Activity


class _NeuronActivity:
    def init(self, view: View) -> Activities:
        zeros = torch.zeros(view.tensor.shape[-1], dtype=torch.float64, device=view.tensor.device)
        none = Activity(zeros, zeros, torch.zeros((), dtype=torch.long, device=view.tensor.device), 0)
        return Activities(none, none)

    def update(self, state: Activities, view: View) -> Activities:
        rest, first = view.tensor[:, 1:], view.tensor[:, :1]
        return Activities(state.rest.plus(_activity(rest)), state.first.plus(_activity(first)))

    def finish(self, state: Activities) -> Activities:
        return state


def _activity(neurons: Tensor) -> Activity:
    sizes = neurons.float().abs().flatten(0, 1)
    size, zeros = sizes.sum(0).double(), sizes.numel() - sizes.count_nonzero()
    return Activity(size, sizes.square_().sum(0).double(), zeros, len(sizes))


streamed("neuron_activity", at="mlp_activation", make=_NeuronActivity)

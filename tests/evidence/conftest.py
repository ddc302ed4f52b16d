"""Reducing a tensor as a pass would, in any cut."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from ontogeny.evidence import EVIDENCE, View
from ontogeny.numerics.aims import exchanged, previous_aim
from ontogeny.vocabulary import Aim, Place, Stimulus


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def stimulus_for(sequences: int, length: int) -> Stimulus:
    """Random tokens below 7; from ten positions up the aims `previous` and `successor` (lags 4, 6, 9)."""
    tokens = torch.randint(7, (sequences, length), generator=generator(1))
    weights = torch.rand(sequences, length, generator=generator(2))
    weights[:, -1] = 0
    if length < 10:
        return Stimulus("made", tokens, weights)
    own = torch.arange(sequences) % 3
    lags = torch.tensor([4, 6, 9])
    queries = torch.arange(length) > lags[:, None] + torch.arange(3)[:, None]
    aims = {
        "previous": previous_aim(sequences, length, generator(3)),
        "successor": Aim(lags, queries, own, exchanged(own, generator(4))),
    }
    return Stimulus("made", tokens, weights, aims)


@pytest.fixture
def stimulus() -> Callable[[int, int], Stimulus]:
    return stimulus_for


@pytest.fixture
def reduced() -> Callable[..., Any]:
    """`reduced(name, at, tensor, batch)`: the evidence, from batches of so many sequences."""

    def reduce(
        name: str, at: str, tensor: Tensor, batch: int = 1000, stimulus: Stimulus | None = None
    ) -> Any:
        length = tensor.shape[2] if at == "attention" else tensor.shape[1]
        made = stimulus or stimulus_for(len(tensor), length)
        reducer, state = EVIDENCE[name][at].make(), None
        for start in range(0, len(tensor), batch):
            rows = slice(start, min(start + batch, len(tensor)))
            view = View(tensor[rows], made, rows, Place(layer=0))
            state = reducer.update(reducer.init(view) if state is None else state, view)
        return reducer.finish(state)

    return reduce


@pytest.fixture
def shown() -> Callable[[str, int], Tensor]:
    """What a kind of site shows, made up: six (or so many) sequences of 20 positions."""

    def show(at: str, sequences: int = 6) -> Tensor:
        if at == "attention":
            scores = torch.randn(sequences, 3, 20, 20, generator=generator())
            return scores.masked_fill(torch.ones(20, 20, dtype=torch.bool).triu(1), -torch.inf).softmax(-1)
        features = {
            "residual": (8,),
            "final_state": (8,),
            "logits": (7,),
            "head_output": (3, 4),
            "mlp_preactivation": (12,),
            "mlp_activation": (12,),
        }[at]
        return torch.randn(sequences, 20, *features, generator=generator())

    return show

"""What every online instrument must keep: numbers of a plain training, a status of anything else."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from ontogeny.catalogue import Part
from ontogeny.record.online import OnlinePart, OnlineParts
from ontogeny.testing.intervention_contract import tiny_training
from ontogeny.vocabulary import Status

STEPS = 4
Held = dict[str, Any]


def online_record(names: list[str], steps: int = STEPS) -> list[dict[str, float]]:
    """What online parts read of the first steps of a tiny training, a record a step."""
    online = OnlineParts(dict.fromkeys(names, 1))
    training = tiny_training(training={"clip": 0.5})
    counters = training.state["counters"]
    records = []
    with online.watching(training.model, training.optimizer, lambda: counters.step):
        for _ in range(steps):
            training.step()
            counters.step += 1
            records.append(online.take(counters.step)[0])
    return records


def check_online(made: Part) -> None:
    """It reads every step of a plain training alike each time, and raises on no gradient, however poor."""
    records = online_record([made.name])
    found = [record.get(made.name, next(iter(record.values()))) for record in records]
    assert all(map(math.isfinite, found[1:])), f"{made.name} reads nothing of a plain training: {found}"
    again = online_record([made.name])
    assert repr(again) == repr(records), f"{made.name} reads another number of the same training"
    part = OnlinePart(made.name, 1)
    for case, held in poor_steps():
        for component, reading in part.readings(held).items():
            assert reading.status != Status.FAILED, f"{made.name} {component} on {case}: {reading.reason}"
            assert isinstance(reading.value, float | int) or reading.value.numel() == 1


def poor_steps() -> Iterator[tuple[str, Held]]:
    """Steps from which nothing, or little, can be read, by what is wrong with them."""
    plain = {"a.weight": torch.arange(6.0).view(2, 3), "b.bias": torch.ones(3)}
    yield "nothing", _held({})
    for name, make in {
        "zero": torch.zeros_like,
        "NaN": lambda tensor: torch.full_like(tensor, math.nan),
        "infinity": lambda tensor: torch.full_like(tensor, math.inf),
        "float16": lambda tensor: tensor.half(),
        "bfloat16": lambda tensor: tensor.bfloat16(),
        "an empty tensor": lambda tensor: tensor[:0],
    }.items():
        yield name, _held({key: make(tensor) for key, tensor in plain.items()})
    without = _held(plain)
    without["gradient"] = {"b.bias": plain["b.bias"]}
    yield "a parameter without gradient", without
    apart = _held(plain)
    apart["previous_gradient"] = {"a.weight": plain["a.weight"]}
    yield "gradients of other parameters before", apart


def _held(tensors: dict[str, Tensor]) -> Held:
    needs = ("gradient", "previous_gradient", "update", "parameter")
    return {need: dict(tensors) for need in needs} | {"decay": dict.fromkeys(tensors, 0.0)}

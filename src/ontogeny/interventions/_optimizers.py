"""Turning an optimizer into another kind while schedule, recorder and hooks go on holding it."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ontogeny.errors import BadContract

KINDS: Mapping[str, type[torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "radam": torch.optim.RAdam,
    "sgd": torch.optim.SGD,
}
#: What Adam and its kin keep of a parameter, and mean alike.
AVERAGES = ("step", "exp_avg", "exp_avg_sq")


def is_adam(kind: type[torch.optim.Optimizer]) -> bool:
    """Whether it keeps exp_avg and exp_avg_sq as Adam does."""
    return issubclass(kind, torch.optim.Adam | torch.optim.RAdam)


def made_over(kind: type[torch.optim.Optimizer], optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """A new optimizer of this kind over the same groups, with those of their settings that it knows."""
    known = set(kind([nn.Parameter(torch.zeros(1))], lr=1.0).defaults)  # pyright: ignore[reportCallIssue]
    known.discard("decoupled_weight_decay")  # what makes AdamW of Adam: the kind decides it
    groups = [
        {name: value for name, value in group.items() if name in known or name == "params"}
        for group in optimizer.param_groups
    ]
    return kind(groups, lr=1.0)  # pyright: ignore[reportCallIssue]  # every group has its own rate


def become(optimizer: torch.optim.Optimizer, other: torch.optim.Optimizer) -> None:
    """Make `optimizer` be `other` in place: whoever holds it, or has hooked into its steps, keeps it."""
    hooks = {name: held for name, held in vars(optimizer).items() if name.endswith("_hooks")}
    optimizer.__class__ = type(other)
    vars(optimizer).update({**vars(other), **hooks})


def carried(
    entry: Mapping[str, Any], before: type[torch.optim.Optimizer], kind: type[torch.optim.Optimizer]
) -> dict[str, Any]:
    """One parameter's state for another kind of optimizer.

    Adam's kin to Adam's kin: both averages and the count, and what else the same class keeps. To SGD: the
    first average as momentum. From SGD to Adam's kin: nothing, as one count corrects both averages there and
    would divide a carried momentum by 1 − β₁ at the first step.
    """
    if before is kind:
        return dict(entry)
    if is_adam(before) and is_adam(kind):
        same = AVERAGES if torch.optim.RAdam in (before, kind) else (*AVERAGES, "max_exp_avg_sq")
        return {name: entry[name] for name in same if name in entry}
    if is_adam(before):
        return {"step": entry["step"], "momentum_buffer": entry["exp_avg"]}
    if before is torch.optim.SGD and is_adam(kind):
        return {}
    raise BadContract(
        f"nothing is known to carry from {before.__name__} to {kind.__name__}",
        allowed="Adam, AdamW, RAdam and SGD",
        remedy='use mode="reset"',
    )


def emptied(parameter: Tensor, kind: type[torch.optim.Optimizer]) -> dict[str, Any]:
    """The state of a parameter that begins anew.

    SGD counts nothing, but its entry has a count all the same: a checkpoint is read into the recipe's own
    optimizer first, and Adam's kin refuse an entry without one.
    """
    return {"step": torch.zeros((), device=parameter.device)} if kind is torch.optim.SGD else {}

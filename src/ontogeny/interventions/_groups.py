"""Other settings for some parameters during one optimizer step, without touching the groups that last.

The optimizer's groups are cut before its step and made whole after it. A piece remembers the whole it was
cut from, so that several interventions may cut the same groups in any order and whoever clears away first
clears away everything. Only what a piece holds changes: state is kept by parameter and stays where it is.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

WHOLE = "cut_from"


def cut_groups(optimizer: torch.optim.Optimizer, parameters: Iterable[Tensor]) -> list[dict[str, Any]]:
    """Cut every group at these parameters; the pieces that hold them, to be changed freely."""
    wanted = {id(parameter) for parameter in parameters}
    groups, pieces = [], []
    for group in optimizer.param_groups:
        inside = [parameter for parameter in group["params"] if id(parameter) in wanted]
        outside = [parameter for parameter in group["params"] if id(parameter) not in wanted]
        whole = group.get(WHOLE, group)
        if inside:
            pieces.append({**group, "params": inside, WHOLE: whole})
        if inside and outside:
            groups.append({**group, "params": outside, WHOLE: whole})
        groups.append(pieces[-1] if inside else group)
    optimizer.param_groups[:] = groups
    return pieces


def mend_groups(optimizer: torch.optim.Optimizer) -> None:
    """Put the groups back as they were before any cut; nothing happens where nothing is cut."""
    wholes = {id(whole): whole for group in optimizer.param_groups for whole in (group.get(WHOLE, group),)}
    optimizer.param_groups[:] = list(wholes.values())

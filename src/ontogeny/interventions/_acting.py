"""What the interventions here share: a window, choice of parameters by name, a sham by one switch."""

import copy
import fnmatch
from collections.abc import Sequence
from typing import Any, Self

import torch
from torch import Tensor, nn

from ontogeny.catalogue import Intervention
from ontogeny.errors import BadContract
from ontogeny.vocabulary import TrainingState, Window

Patterns = str | Sequence[str]


class Acting(Intervention):
    """An intervention whose sham is itself with `inert` set: the same path, the same writes, the old values.

    Every value it puts into a tensor goes through `write`, and every other value is chosen by `inert` at the
    last moment, so that no branch of the path is missing from the sham.
    """

    def __init__(self) -> None:
        self.window, self.inert = Window(), False

    def sham(self) -> Self:
        twin = copy.deepcopy(self)
        twin.inert = True
        return twin

    @torch.no_grad()
    def write(self, tensor: Tensor, value: Tensor) -> None:
        """Put `value` into `tensor`; the sham puts in what is there already."""
        tensor.copy_(tensor.clone() if self.inert else value)

    def end(self, state: TrainingState) -> int:
        """The step at which the window ends; that of the recipe where it is open."""
        return planned_steps(state) if self.window.end is None else self.window.end


class Policy(Acting):
    """An intervention that decides online; it ends a run by saying why in `stop`. Its sham never does."""

    def __init__(self) -> None:
        super().__init__()
        self.stop = ""

    def ask(self, reason: str) -> None:
        """Ask the training loop to stop after this step."""
        self.stop = "" if self.inert else reason


def planned_steps(state: TrainingState) -> int:
    """How many steps the recipe has; BadContract for a loop that is none of a recipe."""
    recipe = getattr(state.get("schedule"), "recipe", None)
    if recipe is None:
        raise BadContract(
            "a loop without a recipe does not say how many steps it has",
            remedy="give the window an end; a part of all steps (gradient_freeze) cannot be told here",
        )
    return int(recipe.training.steps)


def chosen(model: nn.Module, patterns: Patterns) -> dict[str, nn.Parameter]:
    """Parameters whose name fits one of the patterns (`blocks.*.mlp.*`), tied ones once.

    No pattern at all means every parameter. BadContract for a pattern that fits none.
    """
    patterns = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    known = dict(model.named_parameters())
    if not patterns:
        return known
    for pattern in patterns:
        if not fnmatch.filter(known, pattern):
            raise BadContract(
                "a pattern that fits no parameter",
                received=pattern,
                allowed=", ".join(known),
                remedy="write a name of the list, with * for any part of it",
            )
    return {n: p for n, p in known.items() if any(fnmatch.fnmatchcase(n, pattern) for pattern in patterns)}


def check(part: str, fine: bool, allowed: str, **received: Any) -> None:
    """BadContract for parameters of an intervention that make no sense."""
    if not fine:
        said = ", ".join(f"{name}={value!r}" for name, value in received.items())
        raise BadContract(f"{part} cannot be made so", received=said, allowed=allowed)

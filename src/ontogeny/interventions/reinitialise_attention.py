"""Heads made to start again."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from ontogeny.catalogue import intervention
from ontogeny.errors import BadContract
from ontogeny.interventions._acting import Acting, check
from ontogeny.interventions._moments import Slices, void_moments
from ontogeny.models import Decoder
from ontogeny.vocabulary import Streams, TrainingState

Place = tuple[slice, ...]


@intervention(source="Schallon 2603.09616, paper text")
class reinitialise_attention(Acting):
    """At the window's first step chosen heads get fresh W_Q, W_K (with `value` W_V) and write nothing.

    `heads` are (layer, head) pairs. Rows of the head in W_Q, W_K, W_V and their biases are redrawn from
    `seed`, as a fresh model has them ("model") or from N(0, 2 / (inputs + outputs)) of the whole matrix,
    biases 0 ("xavier"); the head's columns of the output projection become 0. Keys and values that several
    heads share are redrawn only if all who share them are chosen. With `freeze_rest` all other weights keep
    every bit inside the window. Optimizer state: averages over the touched slices become 0, counts stay, so
    their next Adam updates are small; frozen slices of touched tensors go on averaging a gradient of 0.
    Known: right after it the output is that of zero-ablating these heads, exactly.
    Misleads: with zero columns Q and K get no gradient until the output projection has moved.
    """

    extent = frozenset({"model", "optimizer", "gradients"})

    def __init__(
        self,
        *,
        heads: Sequence[tuple[int, int]] = ((0, 0),),
        value: bool = False,
        init: Literal["model", "xavier"] = "model",
        freeze_rest: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        check("reinitialise_attention", init in ("model", "xavier"), 'init "model" or "xavier"', init=init)
        self.heads, self.value, self.init = [tuple(pair) for pair in heads], value, init
        self.freeze_rest, self.seed = freeze_rest, seed
        #: During a step: what the frozen weights were before it.
        self._before: dict[str, Tensor] = {}

    @torch.no_grad()
    def edit_state(self, state: TrainingState, step: int) -> None:
        model = state["model"]
        redrawn, silenced = self._slices(model)
        rng = Streams(self.seed).generator("intervention", step, "reinitialise_attention")
        fresh = self._fresh(model, rng)
        for name, places in redrawn.items():
            for place in places:
                self.write(model.get_parameter(name)[place], fresh[name][place])
        for name, places in silenced.items():
            for place in places:
                silent = model.get_parameter(name)[place]
                self.write(silent, torch.zeros_like(silent))
        for name, places in (redrawn | silenced).items():
            for place in places:
                touched: Slices = {model.get_parameter(name): place}
                void_moments(self, state["optimizer"], touched)

    @torch.no_grad()
    def on_gradients(self, state: TrainingState, step: int) -> None:
        if not self.freeze_rest:
            return
        masks = self._masks(state["model"])
        for name, parameter in state["model"].named_parameters():
            if name not in masks:
                parameter.grad = parameter.grad if self.inert else None
            elif parameter.grad is not None:
                self.write(parameter.grad, parameter.grad * masks[name])
                self._before[name] = parameter.detach().clone()

    @torch.no_grad()
    def on_update(self, state: TrainingState, step: int) -> None:
        masks = self._masks(state["model"]) if self._before else {}
        for name, before in self._before.items():  # momentum and decay move weights without gradient too
            parameter = state["model"].get_parameter(name)
            self.write(parameter, torch.where(masks[name], parameter, before))
        self._before = {}

    def _masks(self, model: nn.Module) -> dict[str, Tensor]:
        redrawn, silenced = self._slices(model)
        masks = {}
        for name, places in (redrawn | silenced).items():
            masks[name] = torch.zeros_like(model.get_parameter(name), dtype=torch.bool)
            for place in places:
                masks[name][place] = True
        return masks

    def _slices(self, model: nn.Module) -> tuple[dict[str, list[Place]], dict[str, list[Place]]]:
        """By parameter name: the slices that are redrawn, and those that become 0."""
        if not isinstance(model, Decoder):
            raise BadContract("heads can be redrawn in a Decoder only", received=type(model).__name__)
        config = model.config
        redrawn: dict[str, list[Place]] = {}
        silenced: dict[str, list[Place]] = {}
        for layer, head in self.heads:
            fine = 0 <= layer < config.layers and 0 <= head < config.heads
            allowed = f"(layer, head) below ({config.layers}, {config.heads})"
            check("reinitialise_attention", fine, allowed, heads=self.heads)
            shared = head * config.key_heads // config.heads
            sharers = [h for h in range(config.heads) if h * config.key_heads // config.heads == shared]
            alone = all((layer, other) in self.heads for other in sharers)
            kinds = {"query": head} | ({"key": shared} if alone else {})
            kinds |= {"value": shared} if alone and self.value else {}
            for kind, number in kinds.items():
                rows = (slice(number * config.head_size, (number + 1) * config.head_size),)
                for end in ("weight", "bias") if config.bias else ("weight",):
                    redrawn.setdefault(f"blocks.{layer}.attention.{kind}.{end}", []).append(rows)
            columns = slice(head * config.head_size, (head + 1) * config.head_size)
            silenced.setdefault(f"blocks.{layer}.attention.output.weight", []).append((slice(None), columns))
        return redrawn, silenced

    def _fresh(self, model: Decoder, rng: torch.Generator) -> dict[str, Tensor]:
        """A whole model's worth of fresh attention weights, so that no head's numbers hang on which others
        are chosen."""
        if self.init == "model":
            return dict(Decoder(model.config, rng).named_parameters())
        fresh = {}
        for name, parameter in model.named_parameters():
            if ".attention." in name:
                scale = (2 / sum(parameter.shape)) ** 0.5 if parameter.ndim == 2 else 0.0
                fresh[name] = torch.randn(parameter.shape, generator=rng).to(parameter) * scale
        return fresh

"""Weights made smaller and noisier, so that a network learns on as if it were younger."""

from typing import Literal

import torch
from torch import Tensor, nn

from ontogeny.catalogue import intervention
from ontogeny.errors import BadContract
from ontogeny.interventions._acting import Acting, Patterns, check, chosen
from ontogeny.interventions._moments import void_counts, void_moments
from ontogeny.models import Decoder
from ontogeny.vocabulary import Streams, TrainingState


@intervention(source="Ash & Adams 1910.08475, recalled")
class shrink_and_perturb(Acting):
    """θ ← shrink·θ + sigma·ξ at the window's first step, and with `every` after every so many steps of it.

    ξ is standard normal noise ("normal") or a fresh initialisation of the same model ("init", of a Decoder
    only), drawn from `seed` and the step. It takes the parameters that fit `patterns`, all without one.
    Optimizer state: averages and counts of these parameters become 0, unless `reset` is off.
    Known: shrink 1, sigma 0 changes nothing; shrink 0, sigma 1, noise "init" is a fresh model.
    Misleads: without patterns gains shrink too; and published values differ much (0.8 and 0.01, 0.4 and 0.1),
    so one pair of them shows little.
    """

    extent = frozenset({"model", "optimizer"})

    def __init__(
        self,
        *,
        shrink: float = 0.8,
        sigma: float = 0.01,
        noise: Literal["normal", "init"] = "normal",
        every: int = 0,
        reset: bool = True,
        patterns: Patterns = (),
        seed: int = 0,
    ) -> None:
        super().__init__()
        fine = sigma >= 0 and noise in ("normal", "init") and every >= 0
        allowed = 'sigma from 0, noise "normal" or "init", every from 0 (0: once)'
        check("shrink_and_perturb", fine, allowed, sigma=sigma, noise=noise, every=every)
        self.shrink, self.sigma, self.noise, self.every = shrink, sigma, noise, every
        self.reset, self.patterns, self.seed = reset, patterns, seed

    def edit_state(self, state: TrainingState, step: int) -> None:
        found = chosen(state["model"], self.patterns)
        fresh = self._fresh(state["model"], found, step)
        with torch.no_grad():
            for name, parameter in found.items():
                self.write(parameter, self.shrink * parameter + self.sigma * fresh[name])
        if self.reset:
            slices = dict.fromkeys(found.values(), ())
            void_moments(self, state["optimizer"], slices)
            void_counts(self, state["optimizer"], slices)

    def on_update(self, state: TrainingState, step: int) -> None:
        following = step + 1
        due = self.every and (following - self.window.start) % self.every == 0
        if due and following in self.window:
            self.edit_state(state, following)

    def _fresh(self, model: nn.Module, found: dict[str, nn.Parameter], step: int) -> dict[str, Tensor]:
        streams = Streams(self.seed)
        if self.noise == "normal":
            drawn = {}
            for name, parameter in found.items():
                rng = streams.generator("intervention", step, f"shrink_and_perturb/{name}")
                drawn[name] = torch.randn(parameter.shape, generator=rng).to(parameter)
            return drawn
        if not isinstance(model, Decoder):
            raise BadContract(
                "only a Decoder can be initialised afresh",
                received=type(model).__name__,
                remedy='use noise="normal"',
            )
        made = Decoder(model.config, streams.generator("intervention", step, "shrink_and_perturb"))
        return {name: tensor.to(found[name]) for name, tensor in made.named_parameters() if name in found}

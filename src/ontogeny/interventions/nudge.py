"""The smallest change there is, or a small one of a known size: how far do two runs drift apart?"""

import torch
from torch import Tensor

from ontogeny.catalogue import intervention
from ontogeny.interventions._acting import Acting, Patterns, check, chosen
from ontogeny.vocabulary import Streams, TrainingState


@intervention(source="ours")
class nudge(Acting):
    """At the window's first step one weight moves by `ulps` units in the last place, upwards.

    It is entry `index` (counted through the flattened tensor) of the first parameter that fits `patterns`;
    a negative `ulps` moves it downwards. With `norm` all parameters that fit get Gaussian noise instead,
    scaled so that its norm over all of them together is `norm`. Optimizer state: untouched; the window's end
    means nothing.
    Known: one entry differs, by one representable number; or the change's norm is `norm`.
    Misleads: an embedding of a token that never comes is a weight nobody reads, so nothing follows from it.
    """

    extent = frozenset({"model"})

    def __init__(
        self,
        *,
        patterns: Patterns = ("blocks.*",),
        index: int = 0,
        ulps: int = 1,
        norm: float | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__()
        fine = index >= 0 and ulps != 0 and (norm is None or norm > 0)
        allowed = "index from 0, ulps not 0, norm above 0"
        check("nudge", fine, allowed, index=index, ulps=ulps, norm=norm)
        self.patterns, self.index, self.ulps, self.norm, self.seed = patterns, index, ulps, norm, seed

    @torch.no_grad()
    def edit_state(self, state: TrainingState, step: int) -> None:
        found = chosen(state["model"], self.patterns)
        if self.norm is None:
            self._one(*next(iter(found.items())))
            return
        noise = {name: self._noise(name, parameter, step) for name, parameter in found.items()}
        length = float(torch.stack([part.double().square().sum() for part in noise.values()]).sum().sqrt())
        for name, parameter in found.items():
            self.write(parameter, parameter + noise[name] * (self.norm / length))

    def _one(self, name: str, parameter: Tensor) -> None:
        allowed = f"an index below {parameter.numel()}, the entries of {name}"
        check("nudge", self.index < parameter.numel(), allowed, index=self.index)
        moved = parameter.detach().clone()
        entry = moved.view(-1)[self.index]
        towards = torch.full_like(entry, torch.inf if self.ulps > 0 else -torch.inf)
        for _ in range(abs(self.ulps)):
            entry.copy_(torch.nextafter(entry, towards))
        self.write(parameter, moved)

    def _noise(self, name: str, parameter: Tensor, step: int) -> Tensor:
        rng = Streams(self.seed).generator("intervention", step, f"nudge/{name}")
        return torch.randn(parameter.shape, generator=rng).to(parameter)

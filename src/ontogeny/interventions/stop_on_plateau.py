"""Training ends where the loss falls no more."""

import math
from collections.abc import Mapping
from typing import Any

from ontogeny.catalogue import intervention
from ontogeny.interventions._acting import Policy, check


@intervention(source="ours; TEL-05 as a policy")
class stop_on_plateau(Policy):
    """Asks to stop once the smoothed loss has not beaten its best by `delta` for `patience` steps.

    L̃_t = E_t / (1 − β^n), E_t = β·E_{t−1} + (1 − β)·L_t, β = 2^(−1/half_life), n losses of the window so
    far, in nats; `best` is the L̃ that was last beaten by `delta`. Losses that are not finite are passed
    over. It changes nothing else. Optimizer state: untouched.
    Known: a constant loss stops at the window's step patience + 1; a loss that falls by more than `delta` a
    step never does.
    Misleads: a plateau before a transition looks like the last one; most runs that grok would be stopped.
    """

    extent = frozenset({"stop"})

    def __init__(self, *, patience: int = 500, delta: float = 1e-3, half_life: float = 50.0) -> None:
        super().__init__()
        fine = patience >= 1 and delta >= 0 and half_life > 0
        allowed = "patience from 1, delta from 0, half_life above 0"
        check("stop_on_plateau", fine, allowed, patience=patience, delta=delta, half_life=half_life)
        self.patience, self.delta, self.half_life = patience, delta, half_life
        self.average, self.count, self.waited = 0.0, 0, 0
        self.best: float | None = None

    def on_loss(self, loss: float, step: int) -> None:
        if math.isfinite(loss):
            decay = 2 ** (-1 / self.half_life)
            self.average, self.count = decay * self.average + (1 - decay) * loss, self.count + 1
            smoothed = self.average / (1 - decay**self.count)
            beaten = self.best is None or smoothed < self.best - self.delta
            self.best, self.waited = (smoothed, 0) if beaten else (self.best, self.waited + 1)
        if self.waited >= self.patience:
            self.ask(f"the smoothed loss has not fallen by {self.delta} for {self.waited} steps")

    def state_dict(self) -> dict[str, Any]:
        return {"average": self.average, "count": self.count, "waited": self.waited, "best": self.best}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.average, self.count = float(state["average"]), int(state["count"])
        self.waited, self.best = int(state["waited"]), state["best"]

"""Training ends where the loss is no number any more."""

import math
from collections.abc import Mapping
from typing import Any

from ontogeny.catalogue import intervention
from ontogeny.interventions._acting import Policy, check


@intervention(source="ours")
class stop_on_nonfinite(Policy):
    """Asks to stop after `patience` steps of the window in a row whose loss is NaN or infinite.

    It changes nothing else. Optimizer state: untouched.
    Known: patience 1 stops at the first such step; a finite loss between two makes the count begin anew.
    Misleads: the update of that step has been taken; and a step without weight has no loss, so it counts.
    """

    extent = frozenset({"stop"})

    def __init__(self, *, patience: int = 1) -> None:
        super().__init__()
        check("stop_on_nonfinite", patience >= 1, "patience from 1", patience=patience)
        self.patience, self.count = patience, 0

    def on_loss(self, loss: float, step: int) -> None:
        self.count = 0 if math.isfinite(loss) else self.count + 1
        if self.count >= self.patience:
            self.ask(f"the loss is {loss}: {self.count} in a row are not finite")

    def state_dict(self) -> dict[str, Any]:
        return {"count": self.count}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.count = int(state["count"])

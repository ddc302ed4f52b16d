"""Another weight decay for a while."""

from torch import nn

from ontogeny.catalogue import intervention
from ontogeny.errors import BadContract
from ontogeny.interventions._acting import Acting, Patterns, check, chosen
from ontogeny.interventions._groups import cut_groups, mend_groups
from ontogeny.vocabulary import TrainingState


@intervention(source="Golatkar et al. 1905.13277, recalled")
class weight_decay(Acting):
    """Weight decay `value` inside the window; outside it the recipe's.

    θ ← (1 − η·value)·θ beside the step, where the optimizer decouples it (AdamW); value·θ added to the
    gradient elsewhere. It acts on the parameters that fit `patterns`; without patterns, on all matrices but
    the embeddings, never on gains and biases. Optimizer state: untouched.
    Known: with gradient zero ‖θ‖ shrinks by the product of (1 − η_t·value) exactly.
    Misleads: η is the scheduled rate, so one value decays little at the end of a schedule that falls.
    """

    extent = frozenset({"optimizer"})

    def __init__(self, *, value: float = 0.0, patterns: Patterns = ()) -> None:
        super().__init__()
        check("weight_decay", value >= 0, "value from 0", value=value)
        self.value, self.patterns = float(value), patterns

    def on_gradients(self, state: TrainingState, step: int) -> None:
        if "weight_decay" not in state["optimizer"].defaults:
            raise BadContract(f"{type(state['optimizer']).__name__} has no weight decay")
        for piece in cut_groups(state["optimizer"], self._decaying(state["model"])):
            piece["weight_decay"] = piece["weight_decay"] if self.inert else self.value

    def on_update(self, state: TrainingState, step: int) -> None:
        mend_groups(state["optimizer"])

    def _decaying(self, model: nn.Module) -> list[nn.Parameter]:
        found = chosen(model, self.patterns)
        if self.patterns:
            return list(found.values())
        embeddings = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
        return [p for p in found.values() if p.ndim >= 2 and id(p) not in embeddings]

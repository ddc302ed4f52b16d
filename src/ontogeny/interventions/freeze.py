"""Some parameters held still for a while."""

from ontogeny.catalogue import intervention
from ontogeny.interventions._acting import Acting, Patterns, chosen
from ontogeny.vocabulary import TrainingState


@intervention(source="ours")
class freeze(Acting):
    """The parameters that fit `patterns` keep every bit inside the window, and learn again after it.

    Their gradient is taken away before the optimizer sees it, so there is no step, no decay and no momentum.
    Optimizer state of these parameters, counts included: as it was when the window began.
    Known: frozen tensors are bitwise constant, the others get the update they would have got.
    Misleads: clipping and the recorded gradient norm still count the gradients that were taken away; and
    moments from before the window act again after it.
    """

    extent = frozenset({"gradients"})

    def __init__(self, *, patterns: Patterns = ("embedding.weight",)) -> None:
        super().__init__()
        self.patterns = patterns

    def on_gradients(self, state: TrainingState, step: int) -> None:
        for parameter in chosen(state["model"], self.patterns).values():
            parameter.grad = parameter.grad if self.inert else None

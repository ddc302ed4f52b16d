"""The optimizer's memory, emptied once."""

from ontogeny.catalogue import intervention
from ontogeny.interventions._acting import Acting, Patterns, chosen
from ontogeny.interventions._moments import void_counts, void_moments
from ontogeny.vocabulary import TrainingState


@intervention(source="ours")
class reset_moments(Acting):
    """The optimizer's averages over the parameters that fit `patterns` become 0 at the window's first step.

    With `counts` their counts of updates become 0 too, so that bias correction begins anew and the next
    update is a first one; without, no correction follows and Adam's next step is about (1 − β₁) / √(1 − β₂)
    of a first one. Before the first update there is nothing to reset. No pattern means all parameters; the
    window's end means nothing.
    Known: with `counts` Adam's next update is −η·sign(g), up to ε.
    Misleads: a first Adam step has full size whatever the gradient's, so the loss may jump.
    """

    extent = frozenset({"optimizer"})

    def __init__(self, *, patterns: Patterns = (), counts: bool = True) -> None:
        super().__init__()
        self.patterns, self.counts = patterns, counts

    def edit_state(self, state: TrainingState, step: int) -> None:
        slices = dict.fromkeys(chosen(state["model"], self.patterns).values(), ())
        void_moments(self, state["optimizer"], slices)
        if self.counts:
            void_counts(self, state["optimizer"], slices)

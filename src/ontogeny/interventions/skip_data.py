"""Data that is passed over."""

from ontogeny.catalogue import intervention
from ontogeny.interventions._acting import Acting, check
from ontogeny.vocabulary import Draw


@intervention(source="practice of Chowdhery et al. 2204.02311, recalled; definition ours")
class skip_data(Acting):
    """Inside the window step s learns from what step s + `steps` draws in the untouched run.

    With an open window the draws of `steps` steps are never seen; with a closed one those after it are seen
    twice. The schedule and everything else goes by s. Optimizer state: untouched.
    Known: the draw at s is, bit for bit, that of the untouched run at s + steps.
    Misleads: another draw is a change by itself; compare with several values of `steps` before blaming the
    data that was skipped.
    """

    extent = frozenset({"draw"})

    def __init__(self, *, steps: int = 100) -> None:
        super().__init__()
        check("skip_data", steps > 0, "steps from 1", steps=steps)
        self.steps = steps

    def on_draw(self, draw: Draw, step: int) -> Draw:
        other = self.drawing.again(step + self.steps)
        return draw if self.inert else other

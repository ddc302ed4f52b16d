"""Data of other steps in the place of a step's own."""

from ontogeny.catalogue import intervention
from ontogeny.interventions._acting import Acting, check
from ontogeny.vocabulary import Draw


@intervention(source="ours")
class replace_data(Acting):
    """The window's steps learn from the draws of the untouched run from step `first` on, in order.

    Step s gets the draw of first + (s − window start), and with `length` of first + ((s − window start) mod
    length), so that `length` 1 repeats one batch. Optimizer state: untouched.
    Known: the draw is, bit for bit, that of the named step.
    Misleads: rows already seen give a smaller loss without anything having been learned.
    """

    extent = frozenset({"draw"})

    def __init__(self, *, first: int = 0, length: int = 0) -> None:
        super().__init__()
        fine = first >= 0 and length >= 0
        check("replace_data", fine, "first and length from 0 (0: no repetition)", first=first, length=length)
        self.first, self.length = first, length

    def on_draw(self, draw: Draw, step: int) -> Draw:
        passed = step - self.window.start
        other = self.drawing.again(self.first + (passed % self.length if self.length else passed))
        return draw if self.inert else other

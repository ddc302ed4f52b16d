"""What the interventions on draws share: how the draw before them was made."""

from typing import Any

from ontogeny.interventions._acting import Acting


class Redrawing(Acting):
    """An intervention that may draw anew.

    The trainer sets `drawing` before every draw: its `objective`, its `place` among the micro-batches, the
    recipe's `steps`, and `again(step, more)`, which gives other draws from the stream `data`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.drawing: Any = None

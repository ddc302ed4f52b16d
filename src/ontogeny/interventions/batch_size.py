"""Fewer or more rows a step."""

import torch

from ontogeny.catalogue import intervention
from ontogeny.interventions._acting import Acting, check
from ontogeny.vocabulary import Draw


@intervention(source="ours")
class batch_size(Acting):
    """`share` of the rows of every draw inside the window: the first ones, or all and further ones.

    round(share · rows), at least 1. Further rows come from the same step of the stream `data` under another
    place, so that the first ones are those of the untouched run. Optimizer state and rate: untouched.
    Known: share 1 changes nothing; the gradient's variance falls as 1 / share.
    Misleads: tokens a step change with it, so runs compared by step are not compared by what they have read;
    and nothing rescales the learning rate.
    """

    extent = frozenset({"draw"})

    def __init__(self, *, share: float = 0.5) -> None:
        super().__init__()
        check("batch_size", share > 0, "share above 0", share=share)
        self.share = share

    def on_draw(self, draw: Draw, step: int) -> Draw:
        wanted = max(1, round(self.share * len(draw.items)))
        rows, count = [draw.items], len(draw.items)
        while count < wanted:
            rows.append(self.drawing.again(step, f"/more{len(rows)}").items)
            count += len(rows[-1])
        changed = Draw(torch.cat(rows)[:wanted])
        return draw if self.inert else changed

"""What an attention screen reads when it is aimed at the wrong keys."""

from torch import Tensor

from ontogeny.catalogue import null
from ontogeny.evidence.attention_to_aim import Screened


@null(source="definition ours; instruments.md, section 3")
def shuffled_lag(screened: Screened) -> Tensor:
    """The screen's statistic with every sequence's lag (or key) replaced by another of its kind.

    Returns draws [draw head]. The replacements are drawn once with the stimulus, so a draw is the same
    wrong aim at every checkpoint. A transition must beat the largest over all heads and layers.
    """
    return screened.shuffled

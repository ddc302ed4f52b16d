"""What an attention screen reads when it is aimed at the wrong keys."""

from torch import Tensor

from ontogeny.catalogue import null
from ontogeny.evidence.attention_to_aim import Screened


@null(source="definition ours; instruments.md, section 3")
def shuffled_lag(screened: Screened) -> Tensor:
    """The screen's statistic with every sequence read by a false template: another lag, or another key.

    Returns draws [draw head]. The templates are drawn once with the stimulus, so a draw is the same wrong aim
    at every checkpoint. For induction, sequences exchange their lags and queries, so a habit of position
    reads the same in truth and null. A transition must beat the largest over all heads and layers.
    """
    return screened.shuffled

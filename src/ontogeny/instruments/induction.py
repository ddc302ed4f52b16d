"""HEA-02."""

from ontogeny.catalogue import instrument
from ontogeny.evidence.attention_to_aim import Screened
from ontogeny.vocabulary import Reading


@instrument(
    unit="attention",
    source="Olsson et al. 2209.11895 (recalled)",
    family="heads",
    axes=("head",),
    stimuli=("repeated_tokens",),
    null="shuffled_lag",
)
def induction(attention_to_successor: Screened) -> Reading:
    """How much each head looks at the token that followed the previous occurrence (prefix matching).

    Mean over second-copy queries of A[t, t − L + 1], on blocks of L unique random tokens repeated once,
    L drawn per sequence; key 0 is never a target. A head is called an induction head at 0.4 or more.

    Known: a perfect induction head -> 1; a pure sink head -> 0; uniform attention at L = 50 -> 0.0136.
    Misleads: at one fixed lag a positional habit scores as induction, hence the drawn lags; a high score
    does not say that the head moves what it found into the prediction.
    """
    return Reading(attention_to_successor.score, n=attention_to_successor.n)

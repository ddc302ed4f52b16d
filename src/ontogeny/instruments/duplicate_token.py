"""HEA-03."""

from ontogeny.catalogue import instrument
from ontogeny.evidence.attention_to_aim import Screened
from ontogeny.vocabulary import Reading


@instrument(
    unit="attention",
    source="Wang et al. 2211.00593 (recalled)",
    family="heads",
    axes=("head",),
    stimuli=("repeated_tokens",),
    null="shuffled_lag",
)
def duplicate_token(attention_to_duplicate: Screened) -> Reading:
    """How much each head looks at the previous occurrence of the very token it is at.

    Mean over second-copy queries of A[t, t − L], on blocks of L unique random tokens repeated once, L drawn
    per sequence; key 0 is never a target.

    Known: a head that looks at the same token -> 1; uniform attention at L = 50 -> 0.0136.
    Misleads: in a first layer, without positions, equal tokens attract one another by their embedding alone;
    at one fixed lag a positional habit scores as well, hence the drawn lags.
    """
    return Reading(attention_to_duplicate.score, n=attention_to_duplicate.n)

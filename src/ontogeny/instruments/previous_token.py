"""HEA-01."""

from ontogeny.catalogue import instrument
from ontogeny.evidence.attention_to_aim import Screened
from ontogeny.vocabulary import Reading


@instrument(
    unit="attention",
    source="Elhage et al. 2021; IOI, Wang et al. 2211.00593 (recalled)",
    family="heads",
    axes=("head",),
    stimuli=("heldout", "repeated_tokens"),
    null="shuffled_lag",
)
def previous_token(attention_to_previous: Screened) -> Reading:
    """How much each head looks at the token just before.

    Mean over queries t ≥ 1 of A[t, t − 1]. A head is called a previous-token head at 0.4 or more.

    Known: the shifted identity -> 1; uniform attention at T = 64 -> 0.0594.
    Misleads: a head with a short positional decay scores without any circuit; read it beside its null.
    """
    return Reading(attention_to_previous.score, n=attention_to_previous.n)

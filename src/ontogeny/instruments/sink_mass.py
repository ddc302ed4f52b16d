"""HEA-05."""

from ontogeny.catalogue import instrument
from ontogeny.evidence.attention_to_first import Screened
from ontogeny.vocabulary import Reading


@instrument(
    unit="attention",
    source="Gu et al. 2410.10781; classes Schallon 2603.09616 (checked)",
    family="heads",
    axes=("head",),
    stimuli=("heldout", "repeated_tokens"),
    null="shuffled_lag",
    version=2,
)
def sink_mass(attention_to_first: Screened) -> dict[str, Reading]:
    """How much attention each head parks on the first position.

    (1/T) Σ_t A[t, 0] over all queries, query 0 (whose value is 1) among them; `early` the same over the
    first 64 at most, the T of `sink_rate`. Classes: healthy up to 0.50, sink to 0.95, dead above. Its null
    reads the same at key positions drawn from 2 … T / 2.

    Known: attention to key 0 only -> 1; uniform attention at T = 64 -> 0.0741.
    Misleads: short sequences raise it (query 0 alone gives 1/T); it says nothing of why the head rests.
    """
    return {
        "": Reading(attention_to_first.score, n=attention_to_first.n),
        "early": Reading(attention_to_first.early, n=attention_to_first.early_n),
    }

"""HEA-06."""

import torch

from ontogeny.catalogue import instrument
from ontogeny.evidence.attention_entropies import Entropies
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(unit="nats", source="Zhai et al. 2303.06296 (recalled)", family="heads", axes=("head",))
def attention_entropy(attention_entropies: Entropies) -> dict[str, Reading]:
    """How spread each head's attention is.

    Mean over queries of −Σ_j A log A in nats; `normalised` divides each query's by log(t + 1), t ≥ 1, and
    has no unit.

    Known: uniform causal attention at T = 64 -> ln(64!)/64 = 3.206 and 1; one-hot rows -> 0 and 0.
    Misleads: it falls for a sink head as for a sharp head; read it beside sink_mass.
    Null: none, because it describes every head and picks none out; uniform attention is its upper end.
    """
    sequences = attention_entropies.sequences
    by_query = attention_entropies.total / sequences
    length = by_query.shape[1]
    mean = Reading(by_query.mean(1), n=sequences * length)
    if length < 2:
        return {"": mean, "normalised": undefined(Status.TOO_SHORT, "no query has more than one key", n=0)}
    limit = torch.arange(2, length + 1, dtype=by_query.dtype, device=by_query.device).log()
    share = (by_query[:, 1:] / limit).mean(1)
    return {"": mean, "normalised": Reading(share, n=sequences * (length - 1))}

"""Parts that read one checkpoint at one place; one file each."""

from ontogeny.instruments.attention_entropy import attention_entropy
from ontogeny.instruments.cka import cka
from ontogeny.instruments.distance_from_start import distance_from_start
from ontogeny.instruments.effective_rank import effective_rank
from ontogeny.instruments.heldout_loss import heldout_loss
from ontogeny.instruments.induction import induction
from ontogeny.instruments.massive_activation import massive_activation
from ontogeny.instruments.participation_ratio import participation_ratio
from ontogeny.instruments.previous_token import previous_token
from ontogeny.instruments.residual_norm import residual_norm
from ontogeny.instruments.sink_mass import sink_mass
from ontogeny.instruments.stable_rank import stable_rank
from ontogeny.instruments.token_similarity import token_similarity

__all__ = [
    "attention_entropy",
    "cka",
    "distance_from_start",
    "effective_rank",
    "heldout_loss",
    "induction",
    "massive_activation",
    "participation_ratio",
    "previous_token",
    "residual_norm",
    "sink_mass",
    "stable_rank",
    "token_similarity",
]

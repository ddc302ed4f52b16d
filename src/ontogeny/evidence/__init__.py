"""What a pass or a checkpoint offers, reduced and computed once; one file a kind."""

from ontogeny.evidence import (
    attention_entropies,
    attention_to_aim,
    attention_to_first,
    covariance_eigenvalues,
    magnitude_peaks,
    residual_gram,
    residual_norms,
    residual_sample,
    singular_values,
    token_cosines,
    token_loss,
)
from ontogeny.evidence.kinds import EVIDENCE, RAW, SITES, EvidenceKind, Streamed, View, derived, streamed

__all__ = [
    "EVIDENCE",
    "RAW",
    "SITES",
    "EvidenceKind",
    "Streamed",
    "View",
    "attention_entropies",
    "attention_to_aim",
    "attention_to_first",
    "covariance_eigenvalues",
    "derived",
    "magnitude_peaks",
    "residual_gram",
    "residual_norms",
    "residual_sample",
    "singular_values",
    "streamed",
    "token_cosines",
    "token_loss",
]

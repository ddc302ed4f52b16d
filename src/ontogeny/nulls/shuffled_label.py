"""What a head's copying score is if tokens and logits have nothing to do with one another."""

import torch
from torch import Tensor

from ontogeny.anatomy import HeadGains
from ontogeny.catalogue import null
from ontogeny.numerics.token_ends import Moments, TokenEnds
from ontogeny.vocabulary import Streams

DRAWS = 100


@null(source="definition ours; limit of permuted sums: Hoeffding 1951 (recalled)")
def shuffled_label(
    head_value: Tensor, head_output_weight: Tensor, head_gains: HeadGains, token_ends: TokenEnds
) -> Tensor:
    """The copying score with every logit's label exchanged for another token's.

    With a_t what the head reads of token t and b_t what it writes to that token's logit, the circuit is
    Σ a_t b_tᵀ; with shuffled labels Σ a_t b_π(t)ᵀ, of mean n ā b̄ᵀ and, in the limit of many tokens, normal
    about it with the covariance of a times that of b, over n − 1. 100 draws of that limit, the same at every
    checkpoint; returns draws [draw]. What all tokens share (a mean direction) reads the same in both.
    """
    read = head_value.double() * head_gains.read.double()
    written = head_output_weight.double() * head_gains.written.double()[:, None]
    tokens, logits = token_ends.moments
    circuits = _shuffled(tokens.seen_by(read), logits.seen_by(written.mT))
    if not bool(circuits.isfinite().all()):
        return torch.full((DRAWS,), torch.nan, dtype=torch.float64)
    found = torch.linalg.eigvals(circuits)
    return found.real.sum(-1) / found.abs().sum(-1)


def _shuffled(a: Moments, b: Moments) -> Tensor:
    """Circuits [draw channel channel] of shuffled labels."""
    rng = Streams(0).generator("measurement", place="shuffled_label")
    drawn = torch.randn(DRAWS, len(a.mean), len(b.mean), generator=rng, dtype=torch.float64)
    about = _root(a.scatter) @ drawn.to(a.mean.device) @ _root(b.scatter) / max(a.n - 1, 1) ** 0.5
    return a.n * torch.outer(a.mean, b.mean) + about


def _root(scatter: Tensor) -> Tensor:
    """The symmetric square root of a matrix that is positive but for rounding; NaN where it is not finite."""
    if not bool(scatter.isfinite().all()):
        return torch.full_like(scatter, torch.nan)
    values, vectors = torch.linalg.eigh(scatter)
    return (vectors * values.clamp_min(0).sqrt()) @ vectors.mT

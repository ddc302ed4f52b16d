"""The shape of a spectrum or of a vector: how evenly it is spread. Everything in float64, free of scale."""

import math

import torch
from torch import Tensor

from ontogeny.numerics.spectra import checked_spectrum
from ontogeny.vocabulary import Reading, Status, undefined


def inverse_participations(vectors: Tensor) -> Tensor:
    """Σ v⁴ / (Σ v²)² of each vector of [item, feature]: [item], from 1 / feature to 1; NaN for a null vector.

    Known: one entry alone -> 1; k equal entries -> 1/k; Gaussian -> 3 / (d + 2).
    Misleads: it depends on the basis; a rotation changes it.
    """
    values = vectors.double()
    if not vectors.shape[-1]:
        return values.new_full(values.shape[:-1], torch.nan)
    squares = (values / values.abs().amax(-1, keepdim=True)).square()
    return squares.square().sum(-1) / squares.sum(-1).square()


def spectral_entropy_of(eigenvalues: Tensor | Reading) -> Reading:
    """−Σ p log p of p = λ / Σλ, in nats, 0 to ln d.

    Status: as `spectra.entropy_rank`.
    Known: d equal values -> ln d; one value alone -> 0.
    Misleads: with n vectors of d white features it reads about ln d − d / (2n).
    """
    values = checked_spectrum(eigenvalues)
    if isinstance(values, Reading):
        return values
    return Reading(torch.special.entr(values / values.sum()).sum().item())


def early_enrichment_of(eigenvalues: Tensor | Reading) -> Reading:
    """(2/d) Σ_k (share of the first k values − k/d), held within 0 and 1; eigenvalues largest first.

    Status: as `spectra.entropy_rank`.
    Known: d equal values -> 0; one value alone -> (d − 1) / d.
    Misleads: one large value and many small equal ones read like a steep slope.
    """
    values = checked_spectrum(eigenvalues)
    if isinstance(values, Reading):
        return values
    d = len(values)
    shares = (values / values.sum()).cumsum(0)
    even = torch.arange(1, d + 1, dtype=values.dtype, device=values.device) / d
    return Reading(min(max((2 / d * (shares - even).sum()).item(), 0.0), 1.0))


def spectral_divergence(here: Tensor | Reading, there: Tensor | Reading) -> Reading:
    """Jensen–Shannon divergence of two spectra of one length, rank by rank, in nats: 0 to ln 2.

    Status: as `spectra.entropy_rank`, `failed` for other lengths.
    Known: proportional spectra -> 0; spectra that share no rank -> ln 2.
    Misleads: it compares how variance falls over ranks, not the directions, which may be others altogether.
    """
    one, other = checked_spectrum(here), checked_spectrum(there)
    if isinstance(one, Reading):
        return one
    if isinstance(other, Reading):
        return other
    if one.shape != other.shape:
        return undefined(Status.FAILED, f"spectra of {len(one)} and {len(other)} values")
    p, q = one / one.sum(), other / other.sum()
    entropies = torch.special.entr(torch.stack([(p + q) / 2, p, q])).sum(-1)
    found = (entropies[0] - (entropies[1] + entropies[2]) / 2).item()
    return Reading(min(max(found, 0.0), math.log(2)))

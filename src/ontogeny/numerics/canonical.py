"""Canonical correlations between two representations of the same items: SVCCA and PWCCA."""

from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.numerics.similarity import Items
from ontogeny.numerics.spectra import Factors, factors, singular_values
from ontogeny.vocabulary import Reading, Status, undefined

#: Items needed for each direction that is kept.
ITEMS_A_DIRECTION = 10


class View(NamedTuple):
    """One side: its items' singular vectors and values, and of what shape they are."""

    factors: Factors
    items: int
    features: int

    def directions(self, share: float) -> int:
        """How many leading directions hold this share of the variance; 1 means all that are not rounding.

        Values come from float32, so those below max(n, d) · 1.2e-7 of the largest are rounding.
        """
        values = self.factors.values
        tolerance = max(self.items, self.features) * torch.finfo(torch.float32).eps
        rank = int((values > tolerance * values[0]).sum())
        held = values.square().cumsum(0) / values.square().sum()
        return min(rank, int((held < share).sum()) + 1)


class Correlated(NamedTuple):
    """Canonical correlations ρ [k], largest first, and each side's canonical variates as rotations of its
    kept directions [direction k]."""

    correlations: Tensor
    here: Tensor
    there: Tensor


def view_of(items: Items) -> View | Reading:
    """The singular vectors of centred items; `constant-input` if all items are equal."""
    if not bool(items.values.any()):
        return undefined(Status.CONSTANT_INPUT, "all items are equal", n=len(items.values))
    found = factors(items.values)
    return found if isinstance(found, Reading) else View(found, *items.values.shape)


def canonical_correlations(here: View, there: View, share: float) -> Tensor | Reading:
    """Correlations of the best matched pairs of directions [k], largest first, float64.

    Of the directions that hold `share` of each side's variance; they are the singular values of U_Xᵀ U_Y,
    for U the left singular vectors kept: no matrix is inverted.
    Status: `rank-deficient` where the directions kept are as many as n items can have, so that anything
    would correlate fully; `n-too-small` below 10 items a direction; `failed` for unequal numbers of items.
    Known: X against X -> all 1, at any share; Y = XM, M invertible, all kept -> all 1.
    Misleads: n items of independent data reach √(p / n) on average, not 0.
    """
    overlap = _overlap(here, there, share)
    found = overlap if isinstance(overlap, Reading) else singular_values(overlap)
    # Orthonormal bases cannot overlap by more than 1; what lies beyond is rounding.
    return found if isinstance(found, Reading) else found.clamp_max(1)


def canonical_variates(here: View, there: View, share: float) -> Correlated | Reading:
    """The correlations, and the variates that have them; status as `canonical_correlations`."""
    overlap = _overlap(here, there, share)
    found = overlap if isinstance(overlap, Reading) else factors(overlap)
    if isinstance(found, Reading):
        return found
    return Correlated(found.values.clamp_max(1), found.left, found.right.mT)


def _overlap(here: View, there: View, share: float) -> Tensor | Reading:
    """U_Xᵀ U_Y of the directions kept, where there are items enough for them."""
    n = here.items
    if n != there.items:
        return undefined(Status.FAILED, f"both sides need the same items; received {n} and {there.items}")
    kept = [side.directions(share) for side in (here, there)]
    refusal = _refuse_size(max(kept), n)
    if refusal is not None:
        return refusal
    return here.factors.left[:, : kept[0]].mT @ there.factors.left[:, : kept[1]]


def _refuse_size(kept: int, n: int) -> Reading | None:
    remedy = "cka needs no such number; fewer dimensions do with fewer items"
    if kept >= n - 1:
        reason = f"{kept} directions of {n} items: any two views would agree; {remedy}"
        return undefined(Status.RANK_DEFICIENT, reason, n=n)
    if n < ITEMS_A_DIRECTION * kept:
        reason = f"{n} items for {kept} directions; {ITEMS_A_DIRECTION * kept} are needed: {remedy}"
        return undefined(Status.N_TOO_SMALL, reason, n=n)
    return None


def projection_weighted(side: View, variates: Tensor, correlations: Tensor) -> float:
    """Σ α_i ρ_i, α_i ∝ Σ_j |⟨h_i, x_j⟩|: how much of this side's features each of its variates carries.

    `variates` rotates the side's leading directions into its canonical variates [direction k].
    """
    kept = len(variates)
    features = side.factors.values[:kept, None] * side.factors.right[:kept]
    weights = (variates.mT @ features).abs().sum(1)
    return float(weights @ correlations / weights.sum())

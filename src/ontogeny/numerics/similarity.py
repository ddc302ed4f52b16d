"""Linear CKA between two representations of the same items, biased and debiased.

Every sum has two exact forms, over items (n×n) or over features (d×d); the cheaper one is taken.
"""

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.vocabulary import Reading, Status, undefined

#: Fewest items for which HSIC₁ exists: its denominator is n (n − 3).
FEWEST_ITEMS = 4
#: Items in one minibatch of the debiased form.
BATCH_ITEMS = 256
#: Below this share of the terms it is the difference of, a sum is rounding.
ROUNDING = 1e-13


class Batch(NamedTuple):
    """Centred items [item feature], and of K = XXᵀ the diagonal and the row sums without it, both [item]."""

    values: Tensor
    diagonal: Tensor
    rows: Tensor

    @classmethod
    def of(cls, values: Tensor) -> "Batch":
        diagonal = values.square().sum(1)
        return cls(values, diagonal, values @ values.sum(0) - diagonal)


class Items(NamedTuple):
    """One side of a comparison, with what every comparison of it needs.

    `values` [item feature] are centred, float64; `spread` is ‖XᵀX‖², `hsic` is ΣHSIC₁(K, K) over `batches` of
    a fixed size in the items' order, however a pass was cut, the last one left out if it has fewer than 4
    items; `used` counts the items of the others.
    """

    values: Tensor
    spread: Tensor
    hsic: Tensor
    batches: tuple[Batch, ...]
    used: int


def items_of(sample: Tensor, *, batch_items: int = BATCH_ITEMS) -> Items | Reading:
    """[item, feature] made ready to be compared, once.

    Status: `n-too-small` below 4 items or for batches of fewer, `nonfinite`, `failed` for other shapes.
    """
    refusal = _refuse(sample)
    if refusal is not None:
        return refusal
    if batch_items < FEWEST_ITEMS:
        return undefined(Status.N_TOO_SMALL, f"batches of {batch_items}; HSIC₁ needs {FEWEST_ITEMS} items")
    # HSIC₁ does not see a shift of the features; centring keeps a large mean from eating the digits.
    values = centred(sample)
    batches = tuple(Batch.of(b) for b in values.split(batch_items) if len(b) >= FEWEST_ITEMS)
    hsic = torch.stack([_hsic(batch, batch) for batch in batches]).sum()
    used = sum(len(batch.values) for batch in batches)
    return Items(values, _overlap(values, values), hsic, batches, used)


def biased_cka(here: Tensor | Items, there: Tensor | Items) -> Reading:
    """Linear CKA of [item, feature] with [item, other feature]: ‖XᵀY‖² / (‖XᵀX‖ ‖YᵀY‖), columns centred.

    Frobenius norms; from 0 to 1, unchanged by rotation and scale of either side.
    Status: `n-too-small` below 4 items, `constant-input` if all items of a side are equal, `nonfinite`.
    Known: Y = cXQ -> 1; independent Gaussians of p features, n items -> p / (n + p).
    Misleads: it grows with the number of features and falls with n whatever the data; compare at equal n
    and p, or use `debiased_cka`.
    """
    sides = both_items(here, there)
    if isinstance(sides, Reading):
        return sides
    x, y = sides
    return _ratio(torch.stack([_overlap(x.values, y.values), x.spread, y.spread]), n=len(x.values))


def debiased_cka(here: Tensor | Items, there: Tensor | Items, *, batch_items: int = BATCH_ITEMS) -> Reading:
    """Debiased minibatch linear CKA (Nguyen et al. 2021): ΣHSIC₁(K, L) / √(ΣHSIC₁(K, K) ΣHSIC₁(L, L)).

    Items are cut in their order into batches of `batch_items`; a last batch of fewer than 4 is left out, and
    `n` counts what was used. At most 1; small negative values are chance and are kept.
    Status: `n-too-small` below 4 items, `constant-input`, `nonfinite`.
    Known: Y = cXQ -> 1; independent Gaussians -> 0 ± 0.01 at n = p = 256.
    Misleads: with few batches of strongly correlated items its spread is large and nothing shows it.
    """
    sides = both_items(here, there, batch_items=batch_items)
    if isinstance(sides, Reading):
        return sides
    x, y = sides
    cross = [_hsic(a, b) for a, b in zip(x.batches, y.batches, strict=True)]
    return cka_of_sums(torch.stack([torch.stack(cross).sum(), x.hsic, y.hsic]), n=x.used)


def both_items(
    here: Tensor | Items, there: Tensor | Items, *, batch_items: int = BATCH_ITEMS
) -> tuple[Items, Items] | Reading:
    """Both sides made ready, if they hold the same number of items; or why they cannot be compared."""
    counts = [len(side.values if isinstance(side, Items) else side) for side in (here, there)]
    found = []
    for name, side in (("first", here), ("second", there)):
        ready = side if isinstance(side, Items) else items_of(side, batch_items=batch_items)
        if isinstance(ready, Reading):
            return replace(ready, reason=f"the {name} side: {ready.reason}", n=counts[0])
        found.append(ready)
    if counts[0] != counts[1]:
        reason = f"both sides need the same items; received {counts[0]} and {counts[1]}"
        return undefined(Status.FAILED, reason)
    return found[0], found[1]


def hsic_sums(here: Tensor, there: Tensor) -> Tensor:
    """One batch's HSIC₁(K, L), HSIC₁(K, K), HSIC₁(L, L), [3], float64: add them over batches.

    K = XXᵀ and L = YYᵀ with zero diagonals; HSIC₁ = [tr KL + 1ᵀK1·1ᵀL1 / ((n−1)(n−2)) − 2·1ᵀKL1 / (n−2)]
    / (n(n−3)). NaN below 4 items; a value that is not finite makes its sums NaN.
    """
    if here.shape[0] < FEWEST_ITEMS:
        return torch.full((3,), torch.nan, dtype=torch.float64, device=here.device)
    x, y = Batch.of(centred(here)), Batch.of(centred(there))
    return torch.stack([_hsic(x, y), _hsic(x, x), _hsic(y, y)])


def cka_of_sums(sums: Tensor, n: int | None = None) -> Reading:
    """The debiased CKA of summed `hsic_sums`; `constant-input` where a side has no spread at all."""
    return _ratio(sums, n)


def _hsic(x: Batch, y: Batch) -> Tensor:
    n = len(x.values)
    overlap, diagonal = _overlap(x.values, y.values), x.diagonal @ y.diagonal
    totals = x.rows.sum() * y.rows.sum() / ((n - 1) * (n - 2))
    rows = 2 * (x.rows @ y.rows) / (n - 2)
    total = overlap - diagonal + totals - rows
    terms = overlap + diagonal + totals.abs() + rows.abs()
    return torch.where(total.abs() > ROUNDING * terms, total, 0.0) / (n * (n - 3))


def _overlap(x: Tensor, y: Tensor) -> Tensor:
    """tr(XXᵀYYᵀ) = ‖XᵀY‖², by whichever product is smaller."""
    n, d, e = x.shape[0], x.shape[1], y.shape[1]
    if d * e <= n * (d + e):
        return (x.mT @ y).square().sum()
    return ((x @ x.mT) * (y @ y.mT)).sum()


def _ratio(sums: Tensor, n: int | None) -> Reading:
    cross, here, there = sums.tolist()
    if not torch.isfinite(sums).all():
        return undefined(Status.NONFINITE, "the sums over items overflowed or are NaN", n=n)
    if here <= 0 or there <= 0:
        side = "the first" if here <= 0 else "the second"
        return undefined(Status.CONSTANT_INPUT, f"no two items differ on {side} side", n=n)
    # By Cauchy and Schwarz it is at most 1; what lies beyond is rounding.
    return Reading(min(cross / here**0.5 / there**0.5, 1.0), n=n)


def _refuse(sample: Tensor) -> Reading | None:
    if sample.ndim != 2 or sample.is_complex():
        return undefined(Status.FAILED, f"[item, feature] is needed; received {tuple(sample.shape)}")
    n = sample.shape[0]
    if n < FEWEST_ITEMS:
        return undefined(Status.N_TOO_SMALL, f"{n} items; at least {FEWEST_ITEMS} are needed", n=n)
    bad = int((~torch.isfinite(sample)).any(1).sum())
    return undefined(Status.NONFINITE, f"{bad} of {n} items are not finite", n=n) if bad else None


def centred(sample: Tensor) -> Tensor:
    """[item, feature] less the mean item, float64; features without spread are exactly 0."""
    values = sample.detach()
    # Apple's accelerator has no float64.
    values = (values.cpu() if values.device.type == "mps" else values).to(torch.float64)
    less = values - values.mean(0)
    # Equal items leave rounding behind, which would correlate with anything.
    noise = 1e-14 * values.abs().amax(0, keepdim=True)
    return torch.where(less.abs() <= noise, 0.0, less)

"""Linear CKA between two representations of the same items, biased and debiased.

Every sum has two exact forms, over items (n×n) or over features (d×d); the cheaper one is taken.
"""

import torch
from torch import Tensor

from ontogeny.vocabulary import Reading, Status, undefined

#: Fewest items for which HSIC₁ exists: its denominator is n (n − 3).
FEWEST_ITEMS = 4
#: Below this share of the terms it is the difference of, a sum is rounding.
ROUNDING = 1e-13


def biased_cka(here: Tensor, there: Tensor) -> Reading:
    """Linear CKA of [item, feature] with [item, other feature]: ‖XᵀY‖² / (‖XᵀX‖ ‖YᵀY‖), columns centred.

    Frobenius norms; from 0 to 1, unchanged by rotation and scale of either side.
    Status: `n-too-small` below 2 items, `constant-input` if all items of a side are equal, `nonfinite`.
    Known: Y = cXQ -> 1; independent Gaussians of p features, n items -> p / (n + p).
    Misleads: it grows with the number of features and falls with n whatever the data; compare at equal n
    and p, or use `debiased_cka`.
    """
    refusal = _refuse_pair(here, there, fewest=2)
    if refusal is not None:
        return refusal
    sides = [_centred(here), _centred(there)]
    overlap = [_overlap(*pair) for pair in ((sides[0], sides[1]), (sides[0], sides[0]), (sides[1], sides[1]))]
    return _ratio(torch.stack(overlap), n=here.shape[0])


def debiased_cka(here: Tensor, there: Tensor, *, batch_items: int = 256) -> Reading:
    """Debiased minibatch linear CKA (Nguyen et al. 2021): ΣHSIC₁(K, L) / √(ΣHSIC₁(K, K) ΣHSIC₁(L, L)).

    Items are cut in their order into batches of `batch_items`; a last batch of fewer than 4 is left out, and
    `n` counts what was used. At most 1; small negative values are chance and are kept.
    Status: `n-too-small` below 4 items, `constant-input`, `nonfinite`.
    Known: Y = cXQ -> 1; independent Gaussians -> 0 ± 0.01 at n = p = 256.
    Misleads: with few batches of strongly correlated items its spread is large and nothing shows it.
    """
    refusal = _refuse_pair(here, there, fewest=FEWEST_ITEMS)
    if refusal is not None:
        return refusal
    if batch_items < FEWEST_ITEMS:
        return undefined(Status.N_TOO_SMALL, f"batches of {batch_items}; HSIC₁ needs {FEWEST_ITEMS} items")
    pairs = zip(here.split(batch_items), there.split(batch_items), strict=True)
    batches = [(x, y) for x, y in pairs if x.shape[0] >= FEWEST_ITEMS]
    used = sum(x.shape[0] for x, _ in batches)
    return cka_of_sums(torch.stack([hsic_sums(x, y) for x, y in batches]).sum(0), n=used)


def hsic_sums(here: Tensor, there: Tensor) -> Tensor:
    """One batch's HSIC₁(K, L), HSIC₁(K, K), HSIC₁(L, L), [3], float64: add them over batches.

    K = XXᵀ and L = YYᵀ with zero diagonals; HSIC₁ = [tr KL + 1ᵀK1·1ᵀL1 / ((n−1)(n−2)) − 2·1ᵀKL1 / (n−2)]
    / (n(n−3)). NaN below 4 items; a value that is not finite makes its sums NaN.
    """
    if here.shape[0] < FEWEST_ITEMS:
        return torch.full((3,), torch.nan, dtype=torch.float64, device=here.device)
    # HSIC₁ does not see a shift of the features; centring keeps a large mean from eating the digits.
    x, y = _centred(here), _centred(there)
    return torch.stack([_hsic(x, y), _hsic(x, x), _hsic(y, y)])


def cka_of_sums(sums: Tensor, n: int | None = None) -> Reading:
    """The debiased CKA of summed `hsic_sums`; `constant-input` where a side has no spread at all."""
    return _ratio(sums, n)


def _hsic(x: Tensor, y: Tensor) -> Tensor:
    n = x.shape[0]
    x_norm, y_norm = x.square().sum(1), y.square().sum(1)
    overlap, diagonal = _overlap(x, y), x_norm @ y_norm
    x_rows, y_rows = x @ x.sum(0) - x_norm, y @ y.sum(0) - y_norm
    totals = x_rows.sum() * y_rows.sum() / ((n - 1) * (n - 2))
    rows = 2 * (x_rows @ y_rows) / (n - 2)
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
    return Reading(cross / here**0.5 / there**0.5, n=n)


def _refuse_pair(here: Tensor, there: Tensor, fewest: int) -> Reading | None:
    for side in (here, there):
        if side.ndim != 2 or side.is_complex():
            return undefined(Status.FAILED, f"[item, feature] is needed; received {tuple(side.shape)}")
    n = here.shape[0]
    if n != there.shape[0]:
        return undefined(Status.FAILED, f"both sides need the same items; received {n} and {there.shape[0]}")
    if n < fewest:
        return undefined(Status.N_TOO_SMALL, f"{n} items; at least {fewest} are needed", n=n)
    for name, side in (("first", here), ("second", there)):
        bad = int((~torch.isfinite(side)).any(1).sum())
        if bad:
            return undefined(Status.NONFINITE, f"{bad} of {n} items on the {name} side", n=n)
    return None


def _centred(values: Tensor) -> Tensor:
    values = values.detach()
    # Apple's accelerator has no float64.
    values = (values.cpu() if values.device.type == "mps" else values).to(torch.float64)
    centred = values - values.mean(0)
    # Equal items leave rounding behind, which would correlate with anything.
    noise = 1e-14 * values.abs().amax(0, keepdim=True)
    return torch.where(centred.abs() <= noise, 0.0, centred)

"""TOK-03."""

import torch
from torch import Tensor

from ontogeny.catalogue import instrument
from ontogeny.evidence.ngram_scores import NgramScores
from ontogeny.vocabulary import Reading, Status, undefined

#: An order is compared with the others only on at least so many predictions.
FEWEST = 32
#: Predictions whose n-gram is memorised: this near to it, where it is this far from the order below.
NEAR, APART = 0.1, 0.3


@instrument(
    unit="nats",
    source="KL protocol: definition ours; after Nguyen 2407.12034, Belrose et al. 2402.04362, "
    "Michaelov et al. 2510.24963 (from abstract)",
    family="tokens",
)
def ngram_distance(ngram_scores: NgramScores) -> dict[str, Reading]:
    """How far the model is from the nearest n-gram model of its training data.

    D_n = mean over predictions of KL(p_model ‖ p_n), p_n the interpolated Kneser–Ney model of order n
    (D = 0.75) of the training stream; n = 1 … 5; over up to 1024 evenly spread predictions whose context of
    n − 1 tokens training shows at least 5 times. The part's own number is the least D_n; `order` is its n*.
    For each n: `distance_n`, `variation_n` (total variation), `agreement_n` (share of equal likeliest
    tokens), `coverage_n` (share of predictions with such a context), `memorised_n` (share of those with
    TV(model, p_n) < 0.1 and TV(p_n, p_{n−1}) > 0.3; NaN for n = 1). `shared_n` and `order_shared` are D_n and
    n* over the predictions that all orders cover. `not-observable` where training data cannot be counted.

    Known: a model that is the bigram table -> D_2 = 0, D_1 > 0, order 2. Top-1 agreement with n-gram rules
    in the literature: 79 % (TinyStories), 68 % (Wikipedia).
    Misleads: contexts of higher orders that were seen often are the easier ones, so D_n of different n are
    of different predictions: look at `order_shared`, too. KL(p_model ‖ p_n) punishes a model that knows more
    than n tokens as much as one that knows less. Regression on n-gram probabilities is not part of this.
    """
    divergence = ngram_scores.divergence
    found: dict[str, Reading] = {}
    for index in range(len(divergence)):
        found |= {f"{name}_{index + 1}": one for name, one in _of_order(ngram_scores, index).items()}
    shared = _covered(ngram_scores).all(0)
    for index, one in enumerate(divergence[:, shared]):
        found[f"shared_{index + 1}"] = _mean(one, int(shared.sum()), f"all {len(divergence)} orders cover")
    nearest, order = _nearest(found, "distance", len(divergence))
    return {
        "": nearest,
        "order": order,
        "order_shared": _nearest(found, "shared", len(divergence))[1],
    } | found


def _covered(scores: NgramScores) -> Tensor:
    """Where a context was seen [order prediction]; what is NaN for another reason counts, too."""
    seen = ~scores.change.isnan()
    seen[0] = True
    return seen


def _of_order(scores: NgramScores, index: int) -> dict[str, Reading]:
    covered = _covered(scores)[index]
    n = int(covered.sum())
    told = f"have a context of {index} tokens that was seen"
    near = (scores.variation[index] < NEAR) & (scores.change[index] > APART)
    broken = scores.variation[index].isnan()
    found = {
        "distance": _mean(scores.divergence[index, covered], n, told),
        "variation": _mean(scores.variation[index, covered], n, told),
        "agreement": _mean(scores.agreement[index, covered], n, told),
        "coverage": Reading(covered.double().mean(), n=len(covered)),
    }
    if index:
        memorised = near.double().masked_fill(broken, torch.nan)
        found["memorised"] = _mean(memorised[covered], n, told)
    return found


def _mean(values: Tensor, n: int, told: str) -> Reading:
    if n < FEWEST:
        return undefined(Status.N_TOO_SMALL, f"{n} predictions {told}", n=n)
    return Reading(values.double().mean(), n=n)


def _nearest(found: dict[str, Reading], name: str, orders: int) -> tuple[Reading, Reading]:
    """The least distance, and its order."""
    distances = torch.tensor([float(found[f"{name}_{n + 1}"].value) for n in range(orders)])
    first = found[f"{name}_1"]
    if distances.isnan().all():
        return first, first
    least = int(distances.nan_to_num(torch.inf).argmin())
    nearest = found[f"{name}_{least + 1}"]
    return nearest, Reading(float(least + 1), n=nearest.n)

"""TOK-04."""

import numpy as np
import torch
from torch import Tensor

from ontogeny.catalogue import DataFacts, fit
from ontogeny.numerics.token_ends import TokenEnds
from ontogeny.vocabulary import Fitted, Reading, Status, undefined


@fit(source='"direction of ignorance", 2026 (from abstract); ridge: definition ours', family="tokens")
def prior_direction(readout_ends: TokenEnds, facts: DataFacts, *, ridge: float = 1e-3) -> Fitted | Reading:
    """How linearly the unembedding shows which tokens are frequent, and along which direction.

    R² of W u for ℓ; u solves (WᵀW + r I) u = Wᵀ ℓ. ℓ_v = ln((c_v + 1) / (N + V)) of the training counts and
    W = W_U diag(g) [vocabulary width], g the final norm's gain, are both centred over the vocabulary; r is
    `ridge` times the mean diagonal of WᵀW. `norm` is ‖u‖. The artefact holds `direction` u,
    `reader` u / g / (u·u), whose product with a final state is its loading, and `prior` ln p [vocabulary].
    From an abstract: that the direction is a ridge fit is our assumption.

    Known: a column of W proportional to ℓ -> 1 (but for the ridge), along it.
    Misleads: every token weighs the same, so most of the fit is about rare ones; with nearly as many
    features as tokens R² is high by itself. Scales and caps on logits are left out, as is the bias of a norm.
    """
    known = facts.statistics()
    if known is None:
        return undefined(Status.NOT_OBSERVABLE, "how often tokens occur in training is not known")
    if len(readout_ends.unembedding) < known.vocabulary:
        reason = f"the model has {len(readout_ends.unembedding)} logits for {known.vocabulary} tokens"
        return undefined(Status.NOT_OBSERVABLE, reason)
    prior = log_prior(known.counts)
    level = prior - prior.mean()
    if not float(level.abs().max()) > 1e-9:
        return undefined(Status.CONSTANT_INPUT, "all tokens are equally frequent", n=len(prior))
    gain = torch.ones(readout_ends.unembedding.shape[1]) if readout_ends.gain is None else readout_ends.gain
    gain = gain.double().cpu()
    matrix = readout_ends.unembedding[: known.vocabulary].double().cpu() * gain
    matrix = matrix - matrix.mean(0)
    found = _solved(matrix, level, ridge)
    if isinstance(found, Reading):
        return found
    left = (level - matrix @ found).square().sum() / level.square().sum()
    reader = torch.where(gain == 0, 0.0, found / gain) / found.square().sum()
    quality = {"": Reading(1 - left, n=len(level)), "norm": Reading(found.norm(), n=len(level))}
    return Fitted({"direction": found, "reader": reader, "prior": prior}, quality)


def log_prior(counts: np.ndarray) -> Tensor:
    """ln of each token's share of the training tokens, each counted once more than it occurs [vocabulary]."""
    more = torch.from_numpy(np.asarray(counts)).double() + 1
    return more.log() - more.sum().log()


def _solved(matrix: Tensor, level: Tensor, ridge: float) -> Tensor | Reading:
    if not bool(matrix.isfinite().all()):
        return undefined(Status.NONFINITE, "the unembedding holds what is no number", n=len(level))
    size = float(matrix.abs().max())
    if not size > 0:
        return undefined(Status.ZERO_WEIGHT, "every token has the same unembedding", n=len(level))
    scaled = matrix / size
    gram = scaled.T @ scaled
    gram.diagonal().add_(ridge * gram.diagonal().mean())
    found = torch.linalg.solve(gram, scaled.T @ level) / size
    if not float(found.square().sum()) > 0:
        return undefined(Status.ZERO_OUTPUT, "no direction says anything of the prior", n=len(level))
    return found

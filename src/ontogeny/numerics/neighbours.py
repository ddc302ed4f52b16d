"""Which tokens stand next to which in a stream, and how alike that makes them."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from scipy.stats import rankdata
from torch import Tensor

#: Tokens of a stream looked at in one go.
PIECE = 1 << 22
#: What stands after a token, before it, and within a window on either side.
SIGNATURES = ("next", "previous", "context")


class Ranked:
    """Numbers [pair] of which some may be NaN, and their ranks, made once."""

    def __init__(self, values: NDArray[np.floating]) -> None:
        self.values = values
        self.finite = np.isfinite(values)

    @cached_property
    def ranks(self) -> NDArray[np.float64]:
        """Ranks, less their mean, as a vector of length 1; NaN if they are all the same."""
        return _unit_ranks(self.values)

    def correlation(self, other: "Ranked") -> float:
        """Spearman's, over what is a number in both; NaN where either has a single value."""
        both = self.finite & other.finite
        if not both.any():
            return float("nan")
        if both.all():
            return float(self.ranks @ other.ranks)
        return float(_unit_ranks(self.values[both]) @ _unit_ranks(other.values[both]))


class Neighbours(NamedTuple):
    """How alike the surroundings of the most frequent tokens are.

    token      these tokens, the most frequent first [kind]
    chance     their shares of the training tokens [kind]
    cosines    by signature, cosines of every two of them [pair], pairs in the order of triu_indices
    """

    token: NDArray[np.int64]
    chance: NDArray[np.float64]
    cosines: dict[str, Ranked]


def neighbours(
    streams: Sequence[NDArray[np.integer]],
    counts: NDArray[np.int64],
    most: int = 2000,
    window: int = 8,
) -> Neighbours:
    """Signatures of the `most` most frequent tokens that occur at all, by their conditional distributions of
    the next token, the previous one, and those within `window` on either side."""
    order = np.argsort(-counts, kind="stable")[:most]
    token = order[counts[order] > 0]
    chance = counts[token] / max(counts.sum(), 1)
    by_distance = _pair_counts(streams, token, len(counts), window)
    beside = {
        "next": by_distance[1],
        "previous": by_distance[-1],
        "context": sum(by_distance.values(), scipy.sparse.csr_array((len(token), len(counts)))),
    }
    pairs = np.triu_indices(len(token), 1)
    alike = {name: Ranked(_cosines(beside[name], chance)[pairs].astype(np.float32)) for name in SIGNATURES}
    return Neighbours(token, chance, alike)


def _pair_counts(
    streams: Sequence[NDArray[np.integer]], token: NDArray[np.int64], vocabulary: int, window: int
) -> dict[int, scipy.sparse.csr_array]:
    """For every distance (negative: before) how often each token of the vocabulary stands there."""
    number = np.full(vocabulary, -1)
    number[token] = np.arange(len(token))
    distances = [d for reach in range(1, window + 1) for d in (reach, -reach)]
    shape = (len(token), vocabulary)
    found = {distance: scipy.sparse.csr_array(shape) for distance in distances}
    for stream in streams:
        for start in range(0, len(stream), PIECE):
            piece = stream[max(0, start - window) : start + PIECE].astype(np.int64)
            new = min(start, window)  # pairs that lie in the piece before are counted there
            for distance in distances:
                earlier, later = piece[: -abs(distance)], piece[abs(distance) :]
                skipped = max(0, new - abs(distance))
                here, there = (earlier, later) if distance > 0 else (later, earlier)
                kept = number[here[skipped:]] >= 0
                where = (number[here[skipped:]][kept], there[skipped:][kept])
                found[distance] += scipy.sparse.coo_array(
                    (np.ones(len(where[0])), where), shape=shape
                ).tocsr()
    return found


def _cosines(counted: scipy.sparse.csr_array, chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines of rows as distributions, less their mean by `chance`; NaN for rows of nothing."""
    total = np.asarray(counted.sum(1)).ravel()
    rows = scipy.sparse.diags_array(1 / np.maximum(total, 1)) @ counted
    weights = np.where(total > 0, chance, 0.0)
    weights = weights / max(weights.sum(), 1e-300)
    inner = scipy.sparse.csr_array(rows @ rows.T).toarray()
    toward = inner @ weights
    centred = inner - toward[:, None] - toward[None] + weights @ toward
    return _normalised(centred, np.where(total > 0, inner.diagonal(), 0.0))


def _normalised(gram: NDArray[np.float64], before: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines of a centred Gram matrix; NaN for vectors of which centring has left rounding alone."""
    square = gram.diagonal().copy()
    square[~(square > 1e-12 * before)] = np.nan
    length = np.sqrt(square)
    return np.clip(gram / np.outer(length, length), -1, 1)


def pair_cosines_of(vectors: Tensor, chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines of every two rows, less their mean by `chance` [pair]."""
    rows = vectors.double().cpu()
    largest = float(rows.abs().max()) if rows.numel() else 0.0
    rows = rows / largest if largest > 0 else rows
    weights = torch.from_numpy(chance / chance.sum())
    before = rows.square().sum(1).numpy()
    rows = rows - weights @ rows
    return _normalised((rows @ rows.T).numpy(), before)[np.triu_indices(len(rows), 1)]


def rank_correlation(one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    """Spearman's correlation; NaN where either has a single value, or none."""
    return Ranked(one).correlation(Ranked(other))


def _unit_ranks(values: NDArray[np.floating]) -> NDArray[np.float64]:
    ranks = rankdata(values)
    ranks -= (len(values) + 1) / 2
    length = np.linalg.norm(ranks)
    return ranks / length if length > 0 else np.full(len(values), np.nan)


def recall_of_top(wanted: NDArray[np.floating], found: NDArray[np.floating], share: float = 0.01) -> float:
    """Which part of the `share` of pairs with the largest `wanted` is also among as many largest `found`."""
    count = max(1, round(share * len(wanted)))
    top = [set(np.argpartition(-one, count - 1)[:count].tolist()) for one in (wanted, found)]
    return len(top[0] & top[1]) / count

"""HEA-08."""

from collections.abc import Mapping

import torch

from ontogeny.catalogue import instrument
from ontogeny.evidence.head_moments import Moments
from ontogeny.vocabulary import Reading, Status, undefined

#: Vectors needed for each channel, so that the sample size does not set the number.
VECTORS_A_CHANNEL = 50


@instrument(unit="dimensions", source="SPE-03 by head (definition ours)", family="heads", axes=("head",))
def head_dimension(head_moments: Mapping[str, Moments]) -> dict[str, Reading]:
    """How many of its channels' directions a head uses.

    (Σλ)² / Σλ² over the eigenvalues λ of the centred covariance of the head's output z, position 0 left out;
    `query_key` and `value_output` the same over σ² of W_Q W_Kᵀ and W_V W_O. Between 1 and d_head. A
    definition of ours. `n-too-small` below 50 vectors a channel, `zero-output` for a dead head.

    Known: isotropic z -> d_head; a head that writes one direction -> 1; a dead head -> no number.
    Misleads: it counts directions by their variance and not by what later layers read of them; weights are
    taken before bias, norms of queries and keys, and position encoding.
    Null: none, because it describes every head and picks none out; a head without function has no dimension
    that it should read.
    """
    return {name: _ratio(moments) for name, moments in head_moments.items()}


def _ratio(moments: Moments) -> Reading:
    first, n = moments.first, moments.n
    least = VECTORS_A_CHANNEL * moments.channels
    if n is not None and n < least:
        return undefined(Status.N_TOO_SMALL, f"{n} vectors; {least} are needed", n=n)
    ratio = torch.where(first == 0, torch.nan, first.square() / moments.second)
    dead = Status.ZERO_WEIGHT if n is None else Status.ZERO_OUTPUT
    statuses = [
        dead if energy == 0 else Status.CONSTANT_INPUT if spread == 0 else Status.NONFINITE
        for spread, energy in zip(first.view(-1).tolist(), moments.energy.view(-1).tolist(), strict=True)
    ]
    said = "it has no output, or no spread, or it is not finite"
    return Reading(ratio, n=n, status=statuses, reason=said)

"""TRA-06."""

import torch

from ontogeny.catalogue import comparison
from ontogeny.numerics.sparsity import rank_of_change, unmoved_shares
from ontogeny.vocabulary import Pair, Reading

TOLERANCE = 1e-5
#: At which the share is read in the weights as they are kept.
TOLERANCES = (0.0, 1e-7, 1e-6, TOLERANCE)


@comparison(
    unit="share",
    source="Mukherjee et al. 2505.11711 (checked)",
    family="trajectory",
    reference="first",
    stimuli=(),
)
def update_sparsity(weights: Pair) -> dict[str, Reading]:
    """Which share of the weights has not moved since the first checkpoint.

    Share of elements with |θ_t − θ_0| ≤ 1e-5; `unmoved_0`, `unmoved_1e-07`, `unmoved_1e-06`, `unmoved_1e-05`
    at those tolerances, of the weights as they are kept (weights kept in bfloat16 are exact in float32, in
    which they are read). `bfloat16_0` and `bfloat16_1e-05` are what a bfloat16 copy of both would show. One
    number a matrix, with the `rank` of its change, and one for all parameters at the place "whole model".

    Known: no training -> 1; one dense SGD step in float32 -> near 0.
    Misleads: a bfloat16 weight near 0.01 has a spacing of 6e-5, so there sparsity is mostly rounding.
    """
    here, there = weights
    kept = unmoved_shares(here, there, TOLERANCES, torch.float32)
    copied = unmoved_shares(here, there, (0.0, TOLERANCE), torch.bfloat16)
    found = {"": kept[TOLERANCE]}
    found |= {f"unmoved_{tolerance:g}": share for tolerance, share in kept.items()}
    found |= {f"bfloat16_{tolerance:g}": share for tolerance, share in copied.items()}
    if here.keys() == {""} == there.keys():
        found["rank"] = rank_of_change(here[""], there[""])
    return found

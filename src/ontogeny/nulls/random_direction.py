"""What a loading would be along directions that mean nothing."""

from collections.abc import Mapping

import torch
from torch import Tensor

from ontogeny.catalogue import DataFacts, null
from ontogeny.numerics.token_ends import TokenEnds
from ontogeny.vocabulary import Stimulus, Streams

DRAWS = 100


@null(source="definition ours; instruments.md, TOK-04")
def random_direction(
    final_sample: Tensor,
    final_ends: TokenEnds,
    prior_direction: Mapping[str, Tensor],
    facts: DataFacts,
    stimulus: Stimulus,
) -> Tensor:
    """Size of the mean loading along random directions as long as the prior's.

    |mean x·r| / (u·u) for 100 directions r, uniform on the sphere of radius ‖u‖, the same at every
    checkpoint; returns draws [draw].
    """
    direction = prior_direction["direction"]
    mean = final_sample.double().cpu().mean(0)
    gain = torch.ones_like(mean) if final_ends.gain is None else final_ends.gain.double().cpu()
    mean = torch.where(gain == 0, 0.0, mean / gain)
    rng = Streams(0).generator("measurement", place="random_direction")
    drawn = torch.randn(DRAWS, len(mean), generator=rng, dtype=torch.float64)
    drawn = drawn / drawn.norm(dim=1, keepdim=True) / direction.norm()
    return (drawn @ mean).abs()

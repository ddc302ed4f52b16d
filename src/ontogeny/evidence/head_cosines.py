"""How alike the heads of a layer are: what they look at, what they write, and the maps they write with."""

from collections.abc import Mapping

import torch
from torch import Tensor

from ontogeny.evidence.kinds import derived
from ontogeny.evidence.pattern_cosines import Patterns
from ontogeny.numerics.pair_cosines import PairCosines, cosines_of

#: Tokens whose writes are held at once, each as wide as the stream for every head.
TOKENS = 128


@derived("head_cosines", at="attention")
def of_patterns(pattern_cosines: Patterns) -> Mapping[str, PairCosines]:
    """Of whole patterns, as they are ("") and less uniform attention ("centred"), each sequence apart."""
    return {"": pattern_cosines.raw, "centred": pattern_cosines.centred}


@derived("head_cosines", at="head_output")
def of_outputs(head_sample: Tensor, layer_heads: tuple[Tensor, ...]) -> Mapping[str, PairCosines]:
    """Of what heads write, token by token ("output"), and of the maps W_V W_O ("weights")."""
    _, _, value, output = layer_heads
    return {
        "output": _of_writes(head_sample, output.double()),
        "weights": _of_maps(value.double(), output.double()),
    }


def _of_writes(sample: Tensor, output: Tensor) -> PairCosines:
    found = PairCosines.none(len(output), sample.device)
    for vectors in sample.split(TOKENS):
        written = torch.einsum("nhc,hwc->nhw", vectors.double(), output)
        found = found + cosines_of(written @ written.mT)
    return found


def _of_maps(value: Tensor, output: Tensor) -> PairCosines:
    """⟨O V, O′ V′⟩ = ⟨Oᵀ O′, V V′ᵀ⟩, without making any of the maps [width width]."""
    heads, channels, width = value.shape
    written = output.transpose(1, 2).reshape(heads * channels, width)
    read = value.reshape(heads * channels, width)
    products = (written @ written.mT) * (read @ read.mT)
    return cosines_of(products.view(heads, channels, heads, channels).sum((1, 3))[None])

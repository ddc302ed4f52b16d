"""Where things are in a model; one small file a family."""

from torch import nn

from ontogeny.anatomy.anatomy import Anatomy
from ontogeny.anatomy.causal_lm import read_causal_lm
from ontogeny.anatomy.decoder import read_decoder
from ontogeny.models.decoder import Decoder

__all__ = ["Anatomy", "read_anatomy"]


def read_anatomy(model: nn.Module) -> Anatomy:
    """The map of a model: ours, or a `transformers` causal model."""
    return read_decoder(model) if isinstance(model, Decoder) else read_causal_lm(model)

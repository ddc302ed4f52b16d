"""Where things are in a model; one small file a family."""

from torch import nn

from ontogeny.anatomy import bert, gemma, gpt2, llama, moe, neox, olmo2, phi
from ontogeny.anatomy.anatomy import TAPPABLE, Anatomy, Projections, Readout, Spot
from ontogeny.anatomy.causal_lm import read_causal_lm
from ontogeny.anatomy.decoder import read_decoder
from ontogeny.anatomy.family import Family, fits, mapped
from ontogeny.anatomy.module import read_module
from ontogeny.anatomy.weights import HeadGains, HeadWeights
from ontogeny.errors import NotObservable
from ontogeny.models.decoder import Decoder

__all__ = [
    "FAMILIES",
    "TAPPABLE",
    "Anatomy",
    "Family",
    "HeadGains",
    "HeadWeights",
    "Projections",
    "Readout",
    "Spot",
    "read_anatomy",
]

#: In the order in which a model that names none of them is compared with them.
FAMILIES: tuple[Family, ...] = (
    gpt2.FAMILY,
    neox.FAMILY,
    llama.FAMILY,
    moe.FAMILY,
    olmo2.FAMILY,
    gemma.NORMED,
    gemma.FIRST,
    phi.FAMILY,
    bert.FAMILY,
)


def read_anatomy(model: nn.Module) -> Anatomy:
    """The map of a model: ours, of a family by its type or its structure, or what can be guessed of it.

    Nothing is run: `Subject` checks the map. A model of which nothing is known shows its modules.
    """
    if isinstance(model, Decoder):
        return read_decoder(model)
    config = getattr(model, "config", None)
    said = getattr(config, "model_type", None)
    fitting = [family for family in FAMILIES if fits(family, model)]
    named = [family for family in fitting if said in family.model_types]
    if (named or fitting) and hasattr(config, "num_attention_heads") and hasattr(config, "vocab_size"):
        return mapped((named or fitting)[0], model)
    if getattr(config, "is_encoder_decoder", False):
        return read_module(model)
    try:
        return read_causal_lm(model)
    except NotObservable:
        return read_module(model)

"""Our own decoder."""

from ontogeny.anatomy.anatomy import Anatomy
from ontogeny.models.decoder import Decoder


def read_decoder(model: Decoder) -> Anatomy:
    """The map of a Decoder; its module paths are regular by construction."""
    config = model.config
    blocks = tuple(f"blocks.{layer}" for layer in range(config.layers))
    return Anatomy(
        family="ontogeny",
        layers=config.layers,
        heads=config.heads,
        width=config.width,
        vocabulary=config.vocabulary,
        context=config.context,
        blocks=blocks,
        attention=tuple(f"{block}.attention" for block in blocks),
        loops=config.loops,
    )

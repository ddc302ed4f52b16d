"""What foreign layouts of decoders like ours have in common: renaming, and the order of rotary rows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from ontogeny.errors import ForeignCheckpoint
from ontogeny.formats.canonical import examples
from ontogeny.formats.weights import Weights
from ontogeny.models.config import DecoderConfig
from ontogeny.models.shapes import export_state


def split_half(weight: Tensor, heads: int) -> Tensor:
    """Rows of a query or key map [head feature, in], from neighbours to halves.

    Interleaved rotation turns features 2i and 2i + 1 of a head as a pair; ours and transformers' turns i and
    i + head size / 2. Attention scores are the same after the rows have been put in that order.
    """
    size, width = weight.shape[0] // heads, weight.shape[1]
    return weight.view(heads, size // 2, 2, width).transpose(1, 2).reshape(weight.shape)


def renamed(tensors: Mapping[str, Tensor], names: Mapping[str, str], label: str) -> dict[str, Tensor]:
    """Tensors under our names, from `names` (theirs to ours); ForeignCheckpoint unless the sets are equal."""
    missing, unexpected = names.keys() - tensors.keys(), tensors.keys() - names.keys()
    if missing or unexpected:
        raise ForeignCheckpoint(
            f"{label} and the decoder it describes do not fill each other",
            received="; ".join(
                f"{fault}: {examples(found)}"
                for fault, found in (("missing_keys", missing), ("unexpected_keys", unexpected))
                if found
            ),
            allowed="exactly the tensors of the decoder it describes",
            remedy="check that the file is whole and was written by the tool it names",
        )
    return {ours: tensors[theirs] for theirs, ours in names.items()}


def as_ours(config: DecoderConfig, state: Mapping[str, Tensor], read: Weights) -> Weights:
    """Weights that load as a decoder of ours, and in transformers where the decoder has a family's shape.

    ForeignCheckpoint if the tensors are not those of such a decoder.
    """
    document, tensors = export_state(config, state)
    aliases = _tied_names(document, tensors) if config.tied else {}
    return replace(read, tensors=tensors, config=document, aliases=aliases)


def _tied_names(document: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> dict[str, str]:
    embedding = next((n for n in tensors if n.endswith(("embed_tokens.weight", "wte.weight"))), None)
    return {"lm_head.weight": embedding} if embedding and document["model_type"] != "ontogeny" else {}

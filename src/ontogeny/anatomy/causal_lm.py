"""Any `transformers` causal model whose attention goes through the attention-interface registry."""

import sys
from typing import Any

from torch import nn

from ontogeny.anatomy.anatomy import Anatomy
from ontogeny.errors import NotObservable


def read_causal_lm(model: nn.Module) -> Anatomy:
    """The map of a `transformers` model: the stack is the module list as long as the model has layers.

    Errors: NotObservable where there is no such stack. Attention layers are those that carry `layer_idx`
    and whose source defines `eager_attention_forward`; otherwise `attention` stays empty.
    """
    config: Any = getattr(model, "config", None)
    if not hasattr(config, "num_hidden_layers"):
        raise NotObservable(
            f"nothing says where the blocks of a {type(model).__name__} are",
            received="no config with num_hidden_layers",
            allowed="a Decoder, or a causal model of transformers",
            remedy="give Subject the anatomy yourself",
        )
    layers = int(config.num_hidden_layers)
    stack = _stack(model, layers)
    blocks = tuple(f"{stack}.{layer}" for layer in range(layers))
    attention = tuple(_attention(model.get_submodule(block), block) for block in blocks)
    return Anatomy(
        family=str(config.model_type),
        layers=layers,
        heads=int(config.num_attention_heads),
        width=int(config.hidden_size),
        vocabulary=int(config.vocab_size),
        context=int(getattr(config, "max_position_embeddings", 0) or 1024),
        blocks=blocks,
        attention=attention if all(attention) else (),
    )


def _stack(model: nn.Module, layers: int) -> str:
    for path, module in model.named_modules():
        if isinstance(module, nn.ModuleList) and len(module) == layers:
            return path
    raise NotObservable(
        f"no stack of {layers} blocks in {type(model).__name__}",
        allowed="a causal model with one module list as long as config.num_hidden_layers",
    )


def _attention(block: nn.Module, path: str) -> str:
    for name, module in block.named_modules():
        source = sys.modules.get(type(module).__module__)
        if hasattr(module, "layer_idx") and name and hasattr(source, "eager_attention_forward"):
            return f"{path}.{name}"
    return ""

"""Any other `transformers` language model with one stack of blocks: a guess, of which what holds is kept."""

import sys
from typing import Any

from torch import nn

from ontogeny.anatomy.anatomy import AT_ATTENTION, AT_MODULES, Anatomy, Readout, Spot
from ontogeny.anatomy.config import number
from ontogeny.anatomy.family import base_of, below, output_embeddings, path_of
from ontogeny.errors import NotObservable

#: How blocks call what is not attention.
MLPS = ("mlp", "feed_forward", "ffn", "ff", "feedforward", "block_sparse_moe")
STREAM = ("embedding", "residual")
UNKNOWN = "no family of ours has this structure, and its place cannot be guessed"
UNREGISTERED = "its attention does not go through the registry of transformers"


def read_causal_lm(model: nn.Module) -> Anatomy:
    """The map of a `transformers` model: the stack is the module list as long as the model has layers.

    Errors: NotObservable where there is no such stack. Attention layers are those that carry `layer_idx`
    and whose source defines `eager_attention_forward`; otherwise `attention` stays empty.
    """
    config: Any = getattr(model, "config", None)
    if not hasattr(config, "num_hidden_layers") or not hasattr(config, "vocab_size"):
        raise NotObservable(
            f"nothing says where the blocks of a {type(model).__name__} are",
            received="no config with num_hidden_layers and vocab_size",
            allowed="a Decoder, or a language model of transformers",
            remedy="give Subject the anatomy yourself",
        )
    layers = int(config.num_hidden_layers)
    stack = _stack(model, layers)
    blocks = tuple(f"{stack}.{layer}" for layer in range(layers))
    attention = tuple(_attention(model.get_submodule(block), block) for block in blocks)
    sites = _sites(model, blocks, attention)
    readout = _readout(model)
    notes = dict.fromkeys([site for site in (*AT_MODULES, "head") if site not in (*STREAM, *sites)], UNKNOWN)
    if not all(attention):
        notes |= dict.fromkeys(AT_ATTENTION, UNREGISTERED)
    return Anatomy(
        family=str(config.model_type),
        layers=layers,
        heads=number(config, "num_attention_heads"),
        width=int(config.hidden_size),
        vocabulary=int(config.vocab_size),
        context=number(config, "max_position_embeddings") or 1024,
        blocks=blocks,
        attention=attention if all(attention) else (),
        key_value_heads=number(config, "num_key_value_heads"),
        head_dim=number(config, "head_dim"),
        sites=sites,
        readout=readout,
        claims=frozenset(["sum"] * ("mlp_output" in sites) + ["readout"] * (readout is not None)),
        notes=notes,
        guessed=True,
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


def _sites(
    model: nn.Module, blocks: tuple[str, ...], attention: tuple[str, ...]
) -> dict[str, tuple[Spot, ...]]:
    """What may be the terms that a block adds, the final state and the logits."""
    sites = {}
    first = model.get_submodule(blocks[0])
    mlp = next((name for name, _ in first.named_children() if name in MLPS), "")
    if mlp and all(attention):
        names = [path[len(block) + 1 :].split(".")[0] for block, path in zip(blocks, attention, strict=True)]
        sites["attention_output"] = tuple(Spot(f"{b}.{name}") for b, name in zip(blocks, names, strict=True))
        sites["mlp_output"] = tuple(Spot(f"{block}.{mlp}") for block in blocks)
    readout = _readout(model)
    if readout is not None:
        sites["logits"] = (Spot(""),)
        if readout.final_norm:
            sites["final_state"] = (Spot(readout.final_norm),)
    return sites


def _readout(model: Any) -> Readout | None:
    """The embeddings the model names, and the norm that stands beside its stack."""
    unembedding, getter = output_embeddings(model), getattr(model, "get_input_embeddings", None)
    rows = getter() if getter is not None else None
    if unembedding is None or not isinstance(rows, nn.Module):
        return None
    base = base_of(model)
    norms = [
        name
        for name, child in model.get_submodule(base).named_children()
        if ("norm" in name.lower() or "ln" in name.lower()) and getattr(child, "weight", None) is not None
    ]
    return Readout(
        embedding=path_of(model, rows),
        unembedding=path_of(model, unembedding),
        final_norm=below(base, norms[-1]) if norms else "",
    )

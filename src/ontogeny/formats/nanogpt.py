"""nanoGPT's ckpt.pt: `model_args` and a GPT-2 whose maps are plain linear ones, with or without biases.

It becomes a decoder of ours. With biases that has the shape of GPT-2 and is what `transformers` loads.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from ontogeny.errors import ForeignCheckpoint
from ontogeny.formats.decoder_layouts import as_ours, renamed
from ontogeny.formats.sandbox import Unpickled
from ontogeny.formats.weights import Weights
from ontogeny.models.config import DecoderConfig

ARGUMENTS = "model_args"
FUSED = "attn.c_attn"
_EMBEDDING, _UNEMBEDDING = "transformer.wte.weight", "lm_head.weight"
_BLOCK = {
    "ln_1": "attention_norm",
    "attn.c_proj": "attention.output",
    "ln_2": "mlp_norm",
    "mlp.c_fc": "mlp.up",
    "mlp.c_proj": "mlp.down",
}


def describes(found: Unpickled) -> bool:
    """Whether a pickle is nanoGPT's."""
    return isinstance(found.document.get(ARGUMENTS), Mapping) and _EMBEDDING in found.tensors


def weights_of(found: Unpickled, label: str) -> Weights:
    """The model as a decoder of ours; causal masks that were saved are left out, and a tie is one tensor."""
    tensors = {n: t for n, t in found.tensors.items() if not n.endswith((".attn.bias", ".attn.masked_bias"))}
    notes = [*found.notes, "nanoGPT: one map of queries, keys and values became three"]
    if len(tensors) < len(found.tensors):
        notes.append(f"left out {len(found.tensors) - len(tensors)} causal masks")
    tied = _UNEMBEDDING not in tensors or tensors[_UNEMBEDDING].equal(tensors[_EMBEDDING])
    if tied:
        tensors.pop(_UNEMBEDDING, None)
    config = _config(found.document[ARGUMENTS], tied, label)
    wanted = [f"transformer.h.{i}.{FUSED}.{kind}" for i in range(config.layers) for kind in _kinds(config)]
    fused = {name: tensors.pop(name) for name in wanted if name in tensors}
    state = renamed(tensors, _names(config), label)
    state |= _separated(renamed(fused, dict(zip(wanted, wanted, strict=True)), label))
    return as_ours(config, state, Weights({}, notes=tuple(notes)))


def _config(arguments: Mapping[str, Any], tied: bool, label: str) -> DecoderConfig:
    try:
        return DecoderConfig(
            vocabulary=arguments["vocab_size"],
            context=arguments["block_size"],
            width=arguments["n_embd"],
            layers=arguments["n_layer"],
            heads=arguments["n_head"],
            mlp="gelu",
            norm="layernorm",
            positions="learned",
            tied=tied,
            bias=arguments.get("bias", True),  # files from before the switch have biases
            dropout=arguments.get("dropout", 0.0),
        )
    except KeyError as error:
        raise ForeignCheckpoint(
            f"{label} does not describe its model", received=f"model_args without {error}"
        ) from None


def _kinds(config: DecoderConfig) -> tuple[str, ...]:
    return ("weight", "bias") if config.bias else ("weight",)


def _names(config: DecoderConfig) -> dict[str, str]:
    pairs = {_EMBEDDING: "embedding.weight", "transformer.wpe.weight": "position_embedding.weight"}
    if not config.tied:
        pairs[_UNEMBEDDING] = "unembedding.weight"
    for kind in _kinds(config):
        pairs[f"transformer.ln_f.{kind}"] = f"final_norm.{kind}"
        for layer in range(config.layers):
            for theirs, ours in _BLOCK.items():
                pairs[f"transformer.h.{layer}.{theirs}.{kind}"] = f"blocks.{layer}.{ours}.{kind}"
    return pairs


def _separated(fused: Mapping[str, Tensor]) -> dict[str, Tensor]:
    state = {}
    for name, tensor in fused.items():
        layer, kind = name.split(".")[2], name.rpartition(".")[2]
        for part, rows in zip(("query", "key", "value"), tensor.chunk(3), strict=True):
            state[f"blocks.{layer}.attention.{part}.{kind}"] = rows.clone()
    return state

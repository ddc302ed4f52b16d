"""pico-train's layout: `step_X/` with config.json (model_type "pico_decoder") and model.safetensors, and a
pickle for resuming in `fabric_state/`. The model is a Llama with interleaved rotation; it becomes ours, so
that the Python file that comes with each checkpoint is not run.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ontogeny.errors import ForeignCheckpoint
from ontogeny.formats import transformers_folder
from ontogeny.formats.decoder_layouts import as_ours, renamed, split_half
from ontogeny.formats.weights import NO_PICKLES, Trust, Weights
from ontogeny.models.config import DecoderConfig

name = "pico-train"
looks_like = 'a folder with model.safetensors whose config.json says "pico_decoder"'

MODEL_TYPE = "pico_decoder"
_BLOCK = {
    "attention_norm": "attention_norm",
    "attention.q_proj": "attention.query",
    "attention.k_proj": "attention.key",
    "attention.v_proj": "attention.value",
    "attention.o_proj": "attention.output",
    "swiglu_norm": "mlp_norm",
    "swiglu.w_0": "mlp.gate",
    "swiglu.w_1": "mlp.up",
    "swiglu.w_2": "mlp.down",
}


def describes(config: Mapping[str, Any]) -> bool:
    return config.get("model_type") == MODEL_TYPE


def claims(path: Path) -> bool:
    return path.is_dir() and transformers_folder.claims(path) and MODEL_TYPE.encode() in _start(path)


def _start(path: Path) -> bytes:
    described = path / transformers_folder.CONFIG
    if not described.is_file():
        return b""
    with described.open("rb") as file:
        return file.read(1 << 16)


files = transformers_folder.files


def read(path: Path, *, trust: Trust = NO_PICKLES) -> Weights:
    held = transformers_folder.read(path, trust=trust)
    return converted(held, str(path)) if describes(held.config) else held


def converted(held: Weights, label: str) -> Weights:
    """A pico decoder as one of ours: tensors renamed, rows of query and key maps in our order of rotation."""
    config = _config(held.config, label)
    bare = {name.removeprefix("pico_decoder."): tensor for name, tensor in held.tensors.items()}
    state = renamed(bare, _names(config), label)
    for layer in range(config.layers):
        for part, heads in (("query", config.heads), ("key", config.key_heads)):
            name = f"blocks.{layer}.attention.{part}.weight"
            state[name] = split_half(state[name], heads)
    note = "pico: renamed; rows of query and key maps reordered from interleaved to half-split rotation"
    return as_ours(config, state, replace(held, notes=(*held.notes, note)))


def _config(document: Mapping[str, Any], label: str) -> DecoderConfig:
    try:
        return DecoderConfig(
            vocabulary=document["vocab_size"],
            context=document["max_seq_len"],
            width=document["d_model"],
            layers=document["n_layers"],
            heads=document["attention_n_heads"],
            kv_heads=document["attention_n_kv_heads"],
            mlp_width=document["activation_hidden_dim"],
            norm_eps=document["norm_eps"],
            rotary_base=document["position_emb_theta"],
            tied=False,
        )
    except KeyError as error:
        raise ForeignCheckpoint(
            f"{label} does not describe its model", received=f"a pico config without {error}"
        ) from None


def _names(config: DecoderConfig) -> dict[str, str]:
    pairs = {
        "embedding_proj": "embedding",
        "output_norm": "final_norm",
        "de_embedding_proj": "unembedding",
    }
    for layer in range(config.layers):
        pairs |= {f"layers.{layer}.{theirs}": f"blocks.{layer}.{ours}" for theirs, ours in _BLOCK.items()}
    return {f"{theirs}.weight": f"{ours}.weight" for theirs, ours in pairs.items()}

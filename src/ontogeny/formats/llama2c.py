"""llama2.c's first `.bin`: seven little-endian int32, then every tensor in float32, without names.

    width, MLP width, layers, heads, key heads, vocabulary (negative: not tied), context

embedding; then for all layers together attention norms, query, key, value and output maps, MLP norms, gate,
down and up maps; the final norm; two tables of rotary angles that nothing uses; the unembedding if untied.
"""

import math
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ontogeny.errors import BadRecipe, ForeignCheckpoint
from ontogeny.formats.decoder_layouts import as_ours, split_half
from ontogeny.formats.llama2c_tokenizer import tokenizer_beside
from ontogeny.formats.weights import NO_PICKLES, Trust, Weights
from ontogeny.models.config import DecoderConfig

name = "llama2.c"
looks_like = "a .bin file whose length is what its seven int32 of sizes ask for"

HEADER = struct.Struct("<7i")
MOST = 1 << 24


def claims(path: Path) -> bool:
    if path.suffix != ".bin" or not path.is_file():
        return False
    config = _config(path)
    return config is not None and path.stat().st_size == HEADER.size + 4 * _numbers(config)


def files(path: Path) -> tuple[Path, ...]:
    return (path,)


def read(path: Path, *, trust: Trust = NO_PICKLES) -> Weights:
    config = _config(path)
    if config is None or path.stat().st_size != HEADER.size + 4 * _numbers(config):
        raise ForeignCheckpoint(
            f"{path} is not a whole llama2.c file",
            received=f"{path.stat().st_size:,} bytes for {config}",
            allowed="the first format (float32, no version number), as export.py --version 0 writes it",
        )
    values = torch.from_numpy(np.fromfile(path, dtype="<f4", offset=HEADER.size))
    state: dict[str, Tensor] = {}
    start = 0
    for names, shape in _layout(config):
        size = math.prod(shape)
        for tensor_name in names:
            if tensor_name:
                state[tensor_name] = values[start : start + size].view(shape).clone()
            start += size
    for layer in range(config.layers):
        for part, heads in (("query", config.heads), ("key", config.key_heads)):
            row = f"blocks.{layer}.attention.{part}.weight"
            state[row] = split_half(state[row], heads)
    note = "llama2.c: rows of query and key maps reordered from interleaved to half-split rotation"
    return as_ours(
        config, state, Weights({}, tokenizer=tokenizer_beside(path, config.vocabulary), notes=(note,))
    )


def _config(path: Path) -> DecoderConfig | None:
    """The architecture a header describes, or None if no decoder is like that."""
    with path.open("rb") as file:
        start = file.read(HEADER.size)
    if len(start) < HEADER.size:
        return None
    width, hidden, layers, heads, key_heads, vocabulary, context = HEADER.unpack(start)
    sizes = (width, hidden, layers, heads, key_heads, abs(vocabulary), context)
    if not all(0 < size < MOST for size in sizes):
        return None
    try:
        return DecoderConfig(
            vocabulary=abs(vocabulary),
            context=context,
            width=width,
            layers=layers,
            heads=heads,
            kv_heads=key_heads,
            mlp_width=hidden,
            tied=vocabulary > 0,
        )
    except BadRecipe:
        return None


def _layout(config: DecoderConfig) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """Names of ours, in the order of the file, and the shape of each; "" for what is skipped."""
    width, keys = config.width, config.key_heads * config.head_size
    per_layer = (
        ("attention_norm", (width,)),
        ("attention.query", (width, width)),
        ("attention.key", (keys, width)),
        ("attention.value", (keys, width)),
        ("attention.output", (width, width)),
        ("mlp_norm", (width,)),
        ("mlp.gate", (config.neurons, width)),
        ("mlp.down", (width, config.neurons)),
        ("mlp.up", (config.neurons, width)),
    )
    yield ["embedding.weight"], (config.vocabulary, width)
    for part, shape in per_layer:
        yield [f"blocks.{layer}.{part}.weight" for layer in range(config.layers)], shape
    yield ["final_norm.weight"], (width,)
    yield ["", ""], (config.context, config.head_size // 2)
    if not config.tied:
        yield ["unembedding.weight"], (config.vocabulary, width)


def _numbers(config: DecoderConfig) -> int:
    return sum(len(names) * math.prod(shape) for names, shape in _layout(config))

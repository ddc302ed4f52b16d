"""A decoder-only transformer to be read in ten minutes, with the switches that training studies turn.

Sites for forward hooks: `embedding`, `blocks.{i}` (its output is the residual stream after the block),
`blocks.{i}.attention`, `blocks.{i}.mlp`, the norms, `final_norm`. With `loops > 1` a block's hooks fire once
a loop, in order. Attention patterns are reached through `Attention.attend`.
"""

import math
from typing import Protocol

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from ontogeny.errors import BadContract
from ontogeny.models.config import DecoderConfig

Rotary = tuple[Tensor, Tensor]


class Attend(Protocol):
    def __call__(self, query: Tensor, key: Tensor, value: Tensor, *, layer: int, loop: int) -> Tensor: ...


def attend(
    query: Float[Tensor, "sequence head position head_feature"],
    key: Float[Tensor, "sequence kv_head position head_feature"],
    value: Float[Tensor, "sequence kv_head position head_feature"],
    *,
    layer: int,
    loop: int,
) -> Float[Tensor, "sequence head position head_feature"]:
    """Causal attention, softmax(q·k / sqrt(head size))·v, by torch's fused kernel; keeps no pattern."""
    grouped = query.shape[1] != key.shape[1]
    return F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=grouped)


def attend_eagerly(
    query: Float[Tensor, "sequence head position head_feature"],
    key: Float[Tensor, "sequence kv_head position head_feature"],
    value: Float[Tensor, "sequence kv_head position head_feature"],
) -> tuple[
    Float[Tensor, "sequence head position head_feature"],
    Float[Tensor, "sequence head query_position key_position"],
]:
    """What `attend` returns (to rounding), and the pattern: each query's weights over keys, rows sum to 1.

    The softmax is taken in float32 at least, and the pattern stays in it.
    """
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    future = scores.new_full(scores.shape[-2:], -math.inf).triu(1)
    precise = torch.promote_types(scores.dtype, torch.float32)
    pattern = (scores + future).softmax(-1, dtype=precise)
    return pattern.to(value.dtype) @ value, pattern


def rotary_tables(context: int, head_size: int, base: float) -> Rotary:
    """Cosine and signed sine, [position head_feature] each, of the angles by which feature pairs are turned.

    Features i and i + head size / 2 are a pair, its angle position / base^(2i / head size), in float32 as
    the published models take it. The sine of the first half is negative, so that
    x·cos + (x with its halves swapped)·sin is the rotation.
    """
    turns = 1.0 / base ** (torch.arange(0, head_size, 2, dtype=torch.float32) / head_size)
    angles = torch.arange(context, dtype=torch.float32)[:, None] * turns
    cosine, sine = angles.cos(), angles.sin()
    return torch.cat([cosine, cosine], -1), torch.cat([-sine, sine], -1)


def rotated(features: Tensor, rotary: Rotary) -> Tensor:
    """Features turned by their position's angles."""
    cosine, sine = rotary
    return torch.addcmul(features * cosine, features.roll(features.shape[-1] // 2, -1), sine)


def dropped(features: Tensor, rate: float, rng: torch.Generator | None) -> Tensor:
    """Features with a share `rate` set to 0 and the rest scaled up; unchanged without a generator."""
    if rng is None:
        return features
    mask = torch.empty(features.shape, dtype=features.dtype, device=features.device)
    return features * mask.bernoulli_(1 - rate, generator=rng).div_(1 - rate)


def norm_of(config: DecoderConfig) -> nn.Module:
    if config.norm == "rmsnorm":
        return nn.RMSNorm(config.width, eps=config.norm_eps)
    return nn.LayerNorm(config.width, eps=config.norm_eps, bias=config.bias)


class Attention(nn.Module):
    """Queries, keys and values of every head, mixed by `attend` and written back by `output`.

    `attend` is a plain attribute: set it to any function of the same signature to see or change queries,
    keys (both after QK norm and rotation), values and what comes out, and set the former one back.
    """

    attend: Attend

    def __init__(self, config: DecoderConfig, layer: int) -> None:
        super().__init__()
        self.layer, self.head_size = layer, config.head_size
        keys = config.key_heads * config.head_size
        self.query = nn.Linear(config.width, config.width, bias=config.bias)
        self.key = nn.Linear(config.width, keys, bias=config.bias)
        self.value = nn.Linear(config.width, keys, bias=config.bias)
        self.output = nn.Linear(config.width, config.width, bias=config.bias)
        self.query_norm = nn.RMSNorm(config.head_size, eps=config.norm_eps) if config.qk_norm else None
        self.key_norm = nn.RMSNorm(config.head_size, eps=config.norm_eps) if config.qk_norm else None
        self.attend = attend

    def forward(self, features: Tensor, rotary: Rotary | None, loop: int) -> Tensor:
        per_head = (*features.shape[:2], -1, self.head_size)
        query = self.query(features).view(per_head)
        key = self.key(features).view(per_head)
        value = self.value(features).view(per_head).transpose(1, 2)
        if self.query_norm is not None and self.key_norm is not None:
            query, key = self.query_norm(query), self.key_norm(key)
        query, key = query.transpose(1, 2), key.transpose(1, 2)
        if rotary is not None:
            query, key = rotated(query, rotary), rotated(key, rotary)
        mixed = self.attend(query, key, value, layer=self.layer, loop=loop)
        return self.output(mixed.transpose(1, 2).reshape(features.shape))


class MLP(nn.Module):
    """down(f(up(x))), or down(silu(gate(x)) · up(x)) for swiglu."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.kind = config.mlp
        if config.mlp == "swiglu":
            self.gate = nn.Linear(config.width, config.neurons, bias=config.bias)
        self.up = nn.Linear(config.width, config.neurons, bias=config.bias)
        self.down = nn.Linear(config.neurons, config.width, bias=config.bias)

    def forward(self, features: Tensor) -> Tensor:
        up = self.up(features)
        if self.kind == "swiglu":
            return self.down(F.silu(self.gate(features)) * up)
        if self.kind == "gelu":
            return self.down(F.gelu(up))
        return self.down(F.relu(up).square() if self.kind == "relu2" else F.relu(up))


class Block(nn.Module):
    """The residual stream after attention and MLP have been added to it."""

    def __init__(self, config: DecoderConfig, layer: int) -> None:
        super().__init__()
        self.post, self.rate = config.norm_place == "post", config.dropout
        self.attention_norm = norm_of(config)
        self.attention = Attention(config, layer)
        self.mlp_norm = norm_of(config) if config.neurons else None
        self.mlp = MLP(config) if config.neurons else None

    def forward(
        self, residual: Tensor, rotary: Rotary | None, loop: int, rng: torch.Generator | None
    ) -> Float[Tensor, "sequence position feature"]:
        if self.post:
            written = self.attention(residual, rotary, loop)
            residual = self.attention_norm(residual + dropped(written, self.rate, rng))
        else:
            written = self.attention(self.attention_norm(residual), rotary, loop)
            residual = residual + dropped(written, self.rate, rng)
        if self.mlp is None or self.mlp_norm is None:
            return residual
        if self.post:
            return self.mlp_norm(residual + dropped(self.mlp(residual), self.rate, rng))
        return residual + dropped(self.mlp(self.mlp_norm(residual)), self.rate, rng)


class Decoder(nn.Module):
    """Tokens to next-token logits.

    All initial weights are drawn from `generator` (None: seed 0); torch's global generator is neither read
    nor moved. Under `torch.device("meta")` there are shapes and no weights.
    """

    rotary_cosine: Tensor
    rotary_sine: Tensor

    def __init__(self, config: DecoderConfig, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.config = config
        home = torch.empty(0).device
        with torch.device("meta"):  # torch's layers draw from the global generator when they are made
            self.embedding = nn.Embedding(config.vocabulary, config.width)
            learned = config.positions == "learned"
            self.position_embedding = nn.Embedding(config.context, config.width) if learned else None
            self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.layers))
            self.final_norm = norm_of(config) if config.norm_place == "pre" else None
            self.unembedding = None if config.tied else nn.Linear(config.width, config.vocabulary, bias=False)
        self.to_empty(device=home)
        initialise(self, torch.Generator().manual_seed(0) if generator is None else generator)
        if config.positions == "rotary":
            cosine, sine = rotary_tables(config.context, config.head_size, config.rotary_base)
            self.register_buffer("rotary_cosine", cosine, persistent=False)
            self.register_buffer("rotary_sine", sine, persistent=False)

    def forward(
        self,
        tokens: Int[Tensor, "sequence position"],
        *,
        dropout_rng: torch.Generator | None = None,
        position_ids: Int[Tensor, "*sequence position"] | None = None,
    ) -> Float[Tensor, "sequence position vocabulary"]:
        """Logits of the token after each position.

        `dropout_rng` gives every dropout mask; it is required in training with dropout > 0 and not touched
        otherwise. `position_ids` replaces 0, 1, 2 … in embeddings and rotations only: attention stays causal
        over the whole row, so resetting ids does not separate documents packed into one row.
        `BadContract` without a needed `dropout_rng`, and on positions outside the context.
        """
        rng = self._mask_source(dropout_rng)
        residual, rotary = self._embedded(tokens, position_ids)
        residual = dropped(residual, self.config.dropout, rng)
        for loop in range(self.config.loops):
            for block in self.blocks:
                residual = block(residual, rotary, loop, rng)
        return self.logits_of(residual)

    def logits_of(
        self, residual: Float[Tensor, "sequence position feature"]
    ) -> Float[Tensor, "sequence position vocabulary"]:
        """The final norm, if there is one, then the unembedding, of any residual stream."""
        if self.final_norm is not None:
            residual = self.final_norm(residual)
        return (
            F.linear(residual, self.embedding.weight)
            if self.unembedding is None
            else self.unembedding(residual)
        )

    def _mask_source(self, rng: torch.Generator | None) -> torch.Generator | None:
        if not self.training or self.config.dropout == 0:
            return None
        if rng is None:
            raise BadContract(
                "training with dropout needs a generator for its masks",
                received="dropout_rng=None",
                allowed="a torch.Generator on the model's device",
                remedy="pass dropout_rng=…, or call .eval() to measure",
            )
        return rng

    def _embedded(self, tokens: Tensor, position_ids: Tensor | None) -> tuple[Tensor, Rotary | None]:
        """The residual stream before the first block, and the rotations of its positions."""
        length, context = tokens.shape[1], self.config.context
        farthest = length - 1 if position_ids is None else int(position_ids.max())
        if farthest >= context or (position_ids is not None and int(position_ids.min()) < 0):
            raise BadContract(
                "a position outside the context",
                received=f"{length} tokens, farthest position {farthest}",
                allowed=f"positions 0 to {context - 1}",
                remedy="cut the sequences, or build the model with a longer context",
            )
        if position_ids is None:
            position_ids = torch.arange(length, device=tokens.device)
        residual = self.embedding(tokens)
        if self.position_embedding is not None:
            residual = residual + self.position_embedding(position_ids)
        if self.config.positions != "rotary":
            return residual, None
        cosine, sine = self.rotary_cosine[position_ids], self.rotary_sine[position_ids]
        return residual, (cosine.unsqueeze(-3), sine.unsqueeze(-3))


@torch.no_grad()
def initialise(model: Decoder, generator: torch.Generator) -> None:
    """Fresh weights in the order of `named_modules`, all from `generator`; gains 1 and norm biases 0."""
    config = model.config
    for name, module in model.named_modules():
        if isinstance(module, nn.RMSNorm | nn.LayerNorm):
            module.reset_parameters()
        elif isinstance(module, nn.Embedding):
            module.weight.normal_(
                0, 1 if config.init == "pytorch" else config.init_scale, generator=generator
            )
        elif isinstance(module, nn.Linear):
            writes = name.endswith((".output", ".down"))
            scale = config.init_scale / math.sqrt(2 * config.layers) if writes else config.init_scale
            bound = 1 / math.sqrt(module.in_features)
            for parameter in module.parameters():
                if config.init == "pytorch":
                    parameter.uniform_(-bound, bound, generator=generator)
                elif parameter.ndim == 2:
                    parameter.normal_(0, scale, generator=generator)
                else:
                    parameter.zero_()

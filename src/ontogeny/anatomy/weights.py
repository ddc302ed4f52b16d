"""Weights of heads, embedding and readout, in one layout for all families."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ontogeny.anatomy.anatomy import Anatomy, Projections
from ontogeny.errors import NotObservable


class HeadWeights(NamedTuple):
    """One layer's heads: query, key, value [head channel width], output [head width channel].

    A head's queries are `query[h] @ x` for x as attention receives it (after the block's norm), before bias,
    norms of queries and keys, and position encoding; it writes `output[h] @ z`. Key-value heads that serve
    several heads are repeated, so that there are `heads` of each.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    output: Tensor


class HeadGains(NamedTuple):
    """What norms multiply each feature with [width]: of what a layer's heads read, and of what they write.

    1 where there is no norm. What a post-norm model does with the whole stream is not among it.
    """

    read: Tensor
    written: Tensor


def linear_weight(module: nn.Module) -> Tensor:
    """A linear map as [out in]; GPT-2's Conv1D stores the transpose."""
    weight: Any = getattr(module, "weight", None)
    if not isinstance(weight, Tensor) or weight.ndim != 2:
        raise NotObservable(f"a {type(module).__name__} is not one matrix", allowed="a linear map [out in]")
    return weight.detach().T if type(module).__name__ == "Conv1D" else weight.detach()


def head_weights(model: nn.Module, anatomy: Anatomy, layer: int) -> HeadWeights:
    """The weights of every head of a layer; NotObservable where the map does not say where they are."""
    said = anatomy.projections
    if said is None:
        raise NotObservable(
            f"where the weights of the heads of {anatomy.family!r} models are is not known",
            received=anatomy.why_not("head"),
        )

    def weight(path: str) -> Tensor:
        return linear_weight(model.get_submodule(f"{anatomy.blocks[layer]}.{path}"))

    query, key, value = _apart(weight(said.query), weight(said.key), weight(said.value), said, anatomy)
    groups = anatomy.heads // anatomy.key_value_heads
    output = weight(said.output).unflatten(1, (anatomy.heads, -1)).transpose(0, 1)
    return HeadWeights(query, key.repeat_interleave(groups, 0), value.repeat_interleave(groups, 0), output)


def _apart(
    query: Tensor, key: Tensor, value: Tensor, said: Projections, anatomy: Anatomy
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values [head channel width], split where they are stored in one matrix."""
    heads, keys, size = anatomy.heads, anatomy.key_value_heads, anatomy.head_dim
    if said.fused == "by head":
        apart = query.unflatten(0, (heads, 3, size))
        return apart[:, 0], apart[:, 1], apart[:, 2]
    if said.fused == "thirds":
        query, key, value = query.split((heads * size, keys * size, keys * size))
    return query.unflatten(0, (heads, size)), key.unflatten(0, (keys, size)), value.unflatten(0, (keys, size))


def embedding(model: nn.Module, anatomy: Anatomy) -> Tensor:
    """What each token adds to the stream [vocabulary width], scaled as the model scales it."""
    said = anatomy.readout
    if said is None or not said.embedding:
        raise NotObservable(f"the embedding of {anatomy.family!r} models is not known")
    rows = linear_weight(model.get_submodule(said.embedding))
    return rows if said.embedding_scale == 1 else rows * said.embedding_scale


def unembedding(model: nn.Module, anatomy: Anatomy) -> Tensor:
    """Each token's direction in the final state [vocabulary width], before bias, scale and cap."""
    if anatomy.readout is None or not anatomy.unembedding:
        raise NotObservable(f"the unembedding of {anatomy.family!r} models is not known")
    if "logits" not in anatomy.sites:
        raise NotObservable("this model has no unembedding", received=anatomy.why_not("logits"))
    return linear_weight(model.get_submodule(anatomy.unembedding))


def final_norm_gain(model: nn.Module, anatomy: Anatomy) -> Tensor | None:
    """What the final norm multiplies each feature with [width]; 1 for a norm without gain.

    None where there is no final norm.
    """
    said = anatomy.readout
    return _gain(model, anatomy, said.final_norm) if said is not None and said.final_norm else None


def head_gains(model: nn.Module, anatomy: Anatomy, layer: int) -> HeadGains:
    """The gains of the norms before and after a layer's heads; NotObservable where they are not known."""
    said, block = anatomy.projections, anatomy.blocks[layer]
    if said is None or said.norm is None:
        raise NotObservable(
            f"which norm the heads of {anatomy.family!r} models read is not known",
            received=anatomy.why_not("head"),
        )
    norms = (said.norm, anatomy.branch_norms[0])
    return HeadGains(*(_gain(model, anatomy, f"{block}.{norm}" if norm else "") for norm in norms))


def _gain(model: nn.Module, anatomy: Anatomy, norm: str) -> Tensor:
    gain: Any = getattr(model.get_submodule(norm), "weight", None) if norm else None
    if gain is None:
        return torch.ones(anatomy.width, device=next(model.parameters()).device)
    offset = anatomy.readout.gain_offset if anatomy.readout else 0.0
    return gain.detach() + offset if offset else gain.detach()

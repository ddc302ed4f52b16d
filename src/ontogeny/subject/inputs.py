"""What a model is given beside tokens: mask, positions, documents; all of it explicit."""

import inspect
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from ontogeny.anatomy import Anatomy
from ontogeny.errors import BadContract, NotObservable
from ontogeny.models.decoder import Decoder

ANYTHING = "**"


def arguments(
    model: nn.Module,
    anatomy: Anatomy,
    tokens: Tensor,
    mask: Tensor | None,
    positions: Tensor | None,
    documents: Tensor | None,
) -> tuple[tuple[Tensor, ...], dict[str, Any]]:
    """Positional and named arguments of a model's forward, without cache.

    Tokens are given as they are: none is inserted or dropped. With a mask (1: token, 0: padding) positions
    count the tokens of each row. `documents` numbers the documents packed into a row: each sees itself only
    and counts from 0. BadContract for positions that restart without `documents`, NotObservable for what
    the model cannot be given.
    """
    if isinstance(mask, Tensor):
        _check_mask(tokens, mask)
        mask = None if bool(mask.all()) else mask
    if documents is not None and mask is not None:
        raise BadContract(
            "both documents and padding",
            received="a mask with padding beside documents",
            remedy="number padding as a document of its own, and give no mask",
        )
    if documents is not None and positions is None:
        positions = document_positions(documents)
    if mask is not None and positions is None:
        positions = (mask.long().cumsum(-1) - 1).clamp_min(0)
    if documents is None and positions is not None:
        _check_positions(positions, mask)
    if isinstance(model, Decoder):
        return _decoder(tokens, mask, positions, documents)
    if not hasattr(model, "config"):
        return (tokens,), {}
    return (), _transformers(model, anatomy, tokens, mask, positions, documents)


def document_positions(documents: Tensor) -> Tensor:
    """Positions that count from 0 within every document; a document's tokens stand together."""
    counts = torch.arange(documents.shape[-1], device=documents.device).expand_as(documents)
    starts = torch.ones_like(documents, dtype=torch.bool)
    starts[:, 1:] = documents[:, 1:] != documents[:, :-1]
    return counts - torch.where(starts, counts, 0).cummax(-1).values


def _decoder(
    tokens: Tensor, mask: Tensor | None, positions: Tensor | None, documents: Tensor | None
) -> tuple[tuple[Tensor, ...], dict[str, Any]]:
    if documents is not None:
        raise NotObservable(
            "our decoder attends over the whole row",
            received="documents packed into rows",
            remedy="give every document a row of its own",
        )
    if mask is not None and bool((mask[:, 1:] > mask[:, :-1]).any()):
        raise NotObservable(
            "our decoder has no mask for padding",
            received="padding before tokens",
            allowed="padding at the end of rows, which no token sees",
            remedy="pad on the right",
        )
    return (tokens,), {} if positions is None or mask is not None else {"position_ids": positions}


def _transformers(
    model: nn.Module,
    anatomy: Anatomy,
    tokens: Tensor,
    mask: Tensor | None,
    positions: Tensor | None,
    documents: Tensor | None,
) -> dict[str, Any]:
    accepted = _accepted(type(model))
    given: dict[str, Any] = {"input_ids": tokens}
    if accepted & {"use_cache", ANYTHING}:
        given["use_cache"] = False
    if mask is not None:
        given["attention_mask"] = mask
    if documents is not None:
        given["attention_mask"] = _blocks(model, anatomy, documents)
    if positions is not None:
        if "position_ids" not in accepted:
            raise NotObservable(
                f"a {type(model).__name__} takes no position ids", received="padding, positions or documents"
            )
        given["position_ids"] = positions
    return given


@cache
def _accepted(kind: type[nn.Module]) -> frozenset[str]:
    """Names of a forward's arguments; reading a signature takes longer than a small layer."""
    parameters = inspect.signature(kind.forward).parameters.values()
    named = {parameter.name for parameter in parameters}
    return frozenset(named | {ANYTHING} if any(p.kind is p.VAR_KEYWORD for p in parameters) else named)


def _blocks(model: nn.Module, anatomy: Anatomy, documents: Tensor) -> Tensor:
    """An additive mask [sequence 1 query key] within which documents see themselves only."""
    config: Any = model.config
    if getattr(config, "sliding_window", None) and "sliding_attention" in (
        getattr(config, "layer_types", None) or ["sliding_attention"]
    ):
        raise NotObservable(
            f"a {type(model).__name__} has layers with a sliding window, which a mask of ours would replace",
            received="documents packed into rows",
            remedy="give every document a row of its own",
        )
    seen = documents[:, :, None] == documents[:, None, :]
    if anatomy.causal:
        seen = seen & torch.ones(seen.shape[-2:], dtype=torch.bool, device=seen.device).tril()
    dtype = next(model.parameters()).dtype
    mask = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
    return mask.masked_fill_(~seen, torch.finfo(dtype).min)[:, None]


def _check_mask(tokens: Tensor, mask: Tensor) -> None:
    if mask.shape != tokens.shape or not bool(((mask == 0) | (mask == 1)).all()):
        raise BadContract(
            "a mask that does not fit the tokens",
            received=f"{list(mask.shape)}, values {mask.unique()[:5].tolist()}",
            allowed=f"{list(tokens.shape)} of 1 (token) and 0 (padding)",
        )


def _check_positions(positions: Tensor, mask: Tensor | None) -> None:
    falls = positions[..., 1:] < positions[..., :-1]
    if mask is not None:
        falls = falls & (mask[:, 1:] > 0) & (mask[:, :-1] > 0)
    if bool(falls.any()):
        raise BadContract(
            "positions restart within a row, and documents packed there would still see each other",
            received=positions.reshape(-1, positions.shape[-1])[0][:12].tolist(),
            remedy="give `documents`, the number of each token's document, instead",
        )

"""A loaded model that can be run, read and edited at sites, and is left as it was."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from ontogeny.anatomy import Anatomy, read_anatomy
from ontogeny.errors import NotObservable, UnknownName
from ontogeny.hooks.attention_interface import tapped_attention
from ontogeny.hooks.decoder_attention import tapped_attend
from ontogeny.hooks.residual import tapped_blocks
from ontogeny.models.decoder import Decoder
from ontogeny.vocabulary import Place

TAPPABLE = ("residual", "attention")


class Subject:
    """A model in eval mode, float32 and without cache, with a map of its sites.

    `taps` maps a kind of site (`residual`, `attention`) to a function of (place, tensor); what it returns,
    if anything, goes on in the tensor's stead. Nothing is renamed, wrapped or left behind.
    """

    def __init__(self, model: nn.Module, anatomy: Anatomy | None = None) -> None:
        self.model = model
        self.anatomy = anatomy or read_anatomy(model)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    def matrices(self) -> Mapping[Place, Tensor]:
        """Every weight matrix by place."""
        return self.anatomy.matrices(self.model)

    def observable(self, kind: str) -> bool:
        """Whether a kind of site can be seen on this model at all."""
        return kind != "attention" or bool(self.anatomy.attention)

    def run(self, tokens: Tensor, *, taps: Mapping[str, Any] | None = None) -> Tensor:
        """Logits [sequence position vocabulary] of a batch of tokens, without gradient."""
        training = [module for module in self.model.modules() if module.training]
        self.model.eval()
        try:
            with torch.no_grad(), self.watching(taps or {}):
                return self._logits(tokens.to(self.device))
        finally:
            for module in training:  # one by one: parts of a model may be frozen in eval mode
                module.training = True

    def _logits(self, tokens: Tensor) -> Tensor:
        if isinstance(self.model, Decoder):
            return self.model(tokens)
        return self.model(input_ids=tokens, use_cache=False).logits

    @contextmanager
    def watching(self, taps: Mapping[str, Any]) -> Iterator[None]:
        """The given taps for whatever runs inside the block."""
        for kind in taps:
            if kind not in TAPPABLE:
                raise UnknownName("kind of site to tap", kind, TAPPABLE)
        with ExitStack() as stack:
            if "residual" in taps:
                stack.enter_context(self._residual(taps["residual"]))
            if "attention" in taps:
                stack.enter_context(self._attention(taps["attention"]))
            yield

    def _residual(self, tap: Any) -> Any:
        blocks = [self.model.get_submodule(path) for path in self.anatomy.blocks]
        place = self.anatomy.place
        return tapped_blocks(
            blocks, lambda layer, loop, tensor: tap(place(layer, loop), tensor), self.anatomy.loops
        )

    def _attention(self, tap: Any) -> Any:
        if not self.anatomy.attention:
            raise NotObservable(f"the attention patterns of {self.anatomy.family!r} models cannot be seen")
        place = self.anatomy.place
        if isinstance(self.model, Decoder):
            modules = [self.model.get_submodule(path) for path in self.anatomy.attention]
            return tapped_attend(modules, lambda layer, loop, tensor: tap(place(layer, loop), tensor))
        return tapped_attention(self.model, lambda layer, tensor: tap(place(layer), tensor))

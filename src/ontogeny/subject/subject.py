"""A loaded model that can be run, read and edited at sites, and is left as it was."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ontogeny.anatomy import Anatomy, HeadGains, HeadWeights, read_anatomy, weights
from ontogeny.errors import NotObservable
from ontogeny.hooks.attention_interface import tapped_attention
from ontogeny.hooks.decoder_attention import tapped_attend
from ontogeny.hooks.modules import counted, shown_output, tapped_modules
from ontogeny.hooks.watch import Tap, refuse_compiled
from ontogeny.models.decoder import Decoder
from ontogeny.subject.check import checked
from ontogeny.subject.inputs import arguments
from ontogeny.subject.wiring import wired
from ontogeny.vocabulary import Place


class Subject:
    """A model in eval mode and without cache, with a map of its sites.

    `taps` maps a kind of site (`residual`, `attention`, `mlp_activation` …, `module`, `module:PATH`) to a
    function of (place, tensor); what it returns, if anything, goes on in the tensor's stead. Nothing is
    renamed, wrapped or left behind. Where queries, keys, values or patterns are tapped, attention is
    computed eagerly meanwhile; else by the model's own kernel.

    The map of a foreign model is checked with a few random tokens: a wrong one is refused (NotObservable),
    of a guessed one what does not hold is dropped, with the reason among `anatomy.notes`.
    """

    def __init__(self, model: nn.Module, anatomy: Anatomy | None = None, *, check: bool = True) -> None:
        while isinstance(inner := getattr(model, "_orig_mod", None), nn.Module):
            model = inner  # what torch.compile wrapped: passes run uncompiled
        self.model = model
        self.anatomy = anatomy or read_anatomy(model)
        if check and not (anatomy is None and isinstance(model, Decoder)):
            self.anatomy = checked(self)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    def matrices(self) -> Mapping[Place, Tensor]:
        """Every weight matrix by place."""
        return self.anatomy.matrices(self.model)

    def parameters(self) -> Mapping[str, Tensor]:
        """Every parameter by name, tied ones once."""
        return {name: parameter.detach() for name, parameter in self.model.named_parameters()}

    def observable(self, kind: str) -> bool:
        """Whether a kind of site can be seen on this model at all."""
        return self.anatomy.shows(kind)

    def conditions(self) -> dict[str, Any]:
        """What passes are computed with: kernel, dtype, cache, the library that defines the model."""
        own = getattr(getattr(self.model, "config", None), "_attn_implementation", None) or "sdpa"
        library = "" if isinstance(self.model, Decoder) else _version("transformers")
        return {
            "kernel": own,
            "kernel_where_attention_is_read": "eager",
            "dtype": str(next(self.model.parameters()).dtype).removeprefix("torch."),
            "cache": False,
            "transformers": library,
        }

    def head_weights(self, layer: int) -> HeadWeights:
        """query, key, value [head channel width] and output [head width channel] of a layer's heads."""
        return weights.head_weights(self.model, self.anatomy, layer)

    def head_gains(self, layer: int) -> HeadGains:
        """What norms multiply what a layer's heads read with, and what they write [width] each."""
        return weights.head_gains(self.model, self.anatomy, layer)

    def embedding(self) -> Tensor:
        """What each token adds to the stream, without its position [vocabulary width]."""
        return weights.embedding(self.model, self.anatomy)

    def unembedding(self) -> Tensor:
        """Each token's direction in the final state [vocabulary width]."""
        return weights.unembedding(self.model, self.anatomy)

    def final_norm_gain(self) -> Tensor | None:
        """The final norm's gain [width]; None where there is no final norm."""
        return weights.final_norm_gain(self.model, self.anatomy)

    def readout(self, residual: Tensor) -> Tensor:
        """Logits [… vocabulary] of any residual stream, by the model's own norm and unembedding, its scale
        and cap included. NotObservable where more stands between the stream and the logits.
        """
        said = self.anatomy.readout
        if said is None or "readout" not in self.anatomy.claims:
            raise NotObservable(
                f"the logits of {self.anatomy.family!r} models are not a norm and a matrix away",
                received=self.anatomy.why_not("readout"),
            )
        if said.final_norm:
            residual = self.model.get_submodule(said.final_norm)(residual)
        matrix = self.model.get_submodule(self.anatomy.unembedding)
        if isinstance(matrix, nn.Embedding):
            logits = F.linear(residual, matrix.weight)
        else:
            logits = matrix(residual)
        logits = logits * said.scale if said.scale != 1 else logits
        return said.cap * torch.tanh(logits / said.cap) if said.cap else logits

    def run(
        self,
        tokens: Tensor,
        *,
        taps: Mapping[str, Tap] | None = None,
        mask: Tensor | None = None,
        positions: Tensor | None = None,
        documents: Tensor | None = None,
    ) -> Tensor:
        """Logits [sequence position vocabulary] of a batch of tokens, without gradient and uncompiled.

        `mask`, `positions`, `documents`: see `arguments`. A model without logits gives its first output.
        """
        mask, positions, documents = (
            None if given is None else given.to(self.device) for given in (mask, positions, documents)
        )
        with torch.no_grad(), _as_written(self.model):
            plain, named = arguments(
                self.model, self.anatomy, tokens.to(self.device), mask, positions, documents
            )
            with self._watched(taps or {}):
                return self._output(self.model(*plain, **named))

    def _output(self, output: Any) -> Tensor:
        tensor = shown_output(output)
        if tensor is None:
            raise NotObservable(
                f"a {type(self.model).__name__} gave no tensor", received=type(output).__name__
            )
        return tensor

    @contextmanager
    def watching(self, taps: Mapping[str, Tap]) -> Iterator[None]:
        """The given taps for whatever runs inside the block, training included.

        A model compiled before is refused (NotObservable), as is a pass that the hooks do not see as often as
        the map says. Passes repeated under activation checkpointing are shown to no tap that only looks;
        where one replaces something, `backward` belongs into the block, too.
        """
        if taps:
            refuse_compiled(self.model)
        with self._watched(taps):
            yield

    @contextmanager
    def _watched(self, taps: Mapping[str, Tap]) -> Iterator[None]:
        wiring = wired(self.model, self.anatomy, taps)
        with ExitStack() as stack:
            stack.enter_context(tapped_modules(wiring.wires))
            if wiring.attention and isinstance(self.model, Decoder):
                stack.enter_context(tapped_attend(wiring.attention))
            elif wiring.attention:
                stack.enter_context(tapped_attention(self.model, wiring.attention))
            if wiring.counted:  # last, since it counts what the others saw
                stack.enter_context(counted(self.model, wiring.counted))
            yield


@contextmanager
def _as_written(model: nn.Module) -> Iterator[None]:
    """Within the block a model is in eval mode, and what was compiled in place runs uncompiled."""
    modules = list(model.modules())
    training = [module for module in modules if module.training]
    compiled: dict[Any, Any] = {module: call for module in modules if (call := module._compiled_call_impl)}
    try:
        for module in training:  # one by one, and back: parts of a model may be frozen in eval mode
            module.training = False
        for module in compiled:
            module._compiled_call_impl = None
        yield
    finally:
        for module in training:
            module.training = True
        for module, call in compiled.items():
            module._compiled_call_impl = call


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""

"""What evidence is: something a pass or a checkpoint offers, reduced as it streams, computed once.

Evidence of one name may be offered at several kinds of site (`singular_values` of a weight matrix and of
a residual stream). *Streamed* evidence sees one batch of one site at a time and keeps only accumulators;
*derived* evidence is a pure function of other evidence at the same place.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from ontogeny.errors import BadContract, DuplicateName, UnknownName
from ontogeny.vocabulary import Aim, Place, Reading, Status, Stimulus, undefined

#: Kinds of site, and what is seen there. Those of `WITHOUT_PASS` need none.
SITES: Mapping[str, str] = {
    "matrix": "one weight matrix [out in]",
    "head": "the weights of one attention head, in one layout for all families",
    "readout": "the embedding, the unembedding and the final norm's gain",
    "embedding": "the stream that enters block 0 [sequence position feature]",
    "residual": "the residual stream after one block [sequence position feature]",
    "query": "queries of one layer, after position encoding [sequence head position channel]",
    "key": "keys of one layer's key-value heads, after position encoding [sequence head position channel]",
    "value": "values of one layer's key-value heads [sequence head position channel]",
    "attention": "the patterns of one attention layer [sequence head query key]",
    "head_output": "what each head hands to the output projection [sequence position head channel]",
    "attention_output": "what one layer's attention adds to the stream [sequence position feature]",
    "mlp_preactivation": "the input of an MLP's non-linearity (gated: the gate's) [sequence position neuron]",
    "mlp_activation": "what enters an MLP's down projection, after gating [sequence position neuron]",
    "mlp_output": "what one layer's MLP adds to the stream [sequence position feature]",
    "final_state": "the stream after the final norm [sequence position feature]",
    "logits": "the model's output [sequence position vocabulary]",
    "module": "the output of one module, addressed by its path [sequence …]",
    "model": "every parameter, by name",
    "parameter": "one step of training: all parameters, and each group of them",
}

#: What is there without being computed, and where: the weights themselves.
RAW: Mapping[str, str] = {
    "weight": "matrix",
    "head_query": "head",
    "head_key": "head",
    "head_value": "head",
    "head_output_weight": "head",
    "head_gains": "head",
    "token_ends": "head",
    "layer_heads": "head_output",
    "embedding_weight": "readout",
    "unembedding_weight": "readout",
    "final_norm_gain": "readout",
    "readout_ends": "readout",
    "final_ends": "final_state",
    "parameters": "model",
    "gradient": "parameter",
    "previous_gradient": "parameter",
    "update": "parameter",
    "parameter": "parameter",
    "decay": "parameter",
}

#: Kinds of site that are read without running the model on a stimulus.
WITHOUT_PASS = frozenset({"matrix", "head", "readout", "model", "parameter"})

#: Needs of any site: what is known of the data (DataFacts), and the stimulus of the pass.
GIVEN = frozenset({"facts", "stimulus"})

Maker = TypeVar("Maker", bound=Callable[..., Any])


@dataclass(frozen=True)
class View:
    """One batch of one site: the tensor, which rows of the stimulus it holds, and where it was seen.

    `facts` are what is known of the data (DataFacts), None where nothing is.
    """

    tensor: Tensor
    stimulus: Stimulus
    rows: slice
    place: Place
    facts: Any = None

    @cached_property
    def norms(self) -> Tensor:
        """Euclidean norm of every vector, in float32 or better [sequence position]."""
        return torch.linalg.vector_norm(self.tensor.float(), dim=-1)

    @cached_property
    def by_lag(self) -> Tensor:
        """A causal pattern with key t − lag in column lag: [sequence head query lag], lags 0 … T − 2.

        Entries with lag > t are 0. It is a strided look at a flipped copy, not a gather.
        """
        pattern = self.tensor
        length = pattern.shape[-1]
        flipped = pattern.flip(-1).contiguous()
        outer = flipped.stride()[:2]
        shape = (*pattern.shape[:2], length, length - 1)
        return flipped.as_strided(shape, (*outer, length - 1, 1), length - 1)

    def template_sums(self, aim: Aim) -> Tensor:
        """A causal pattern read with every template of an aim: attention on its keys, over its queries.

        [sequence head template], float64, on the CPU.
        """
        queries, lags = aim.queries.to(self.tensor), aim.lags.to(self.tensor.device)
        if len(lags.unique()) < len(lags):
            return torch.einsum("shtk,kt->shk", self.by_lag[..., lags], queries).double().cpu()
        # One template a lag: weighing the whole view in place is several times faster than picking from it.
        least, most = lags.min(), lags.max() + 1
        weights = queries.new_zeros(queries.shape[1], int(most - least))
        weights[:, lags - least] = queries.T
        return (self.by_lag[..., least:most] * weights).sum(2)[..., lags - least].double().cpu()


class Streamed(Protocol):
    """Evidence or an instrument that sees batches one by one. `state` belongs to one place."""

    def init(self, view: View, /) -> Any: ...
    def update(self, state: Any, view: View, /) -> Any: ...
    def finish(self, state: Any, /) -> Any: ...


@dataclass(frozen=True)
class EvidenceKind:
    """One way to obtain evidence of one name: at which sites, from what.

    `there` is the kind of site at which its needs are met, if that is another one at the same place.
    """

    name: str
    at: str
    make: Callable[..., Any]
    needs: tuple[str, ...]
    streamed: bool
    there: str = ""

    @property
    def source(self) -> str:
        """The kind of site at which its needs are met."""
        return self.there or self.at


#: name -> kind of site -> how it is made.
EVIDENCE: dict[str, dict[str, EvidenceKind]] = {}


def _register(kind: EvidenceKind) -> None:
    for site in (kind.at, kind.source):
        if site not in SITES:
            raise UnknownName("kind of site", site, SITES)
    offered = EVIDENCE.setdefault(kind.name, {})
    if kind.at in offered:
        raise DuplicateName(f"evidence {kind.name!r} at {kind.at!r} is offered twice", received=kind.make)
    offered[kind.at] = kind


def streamed(name: str, *, at: str, make: Callable[[], Streamed]) -> None:
    """Offer evidence that is reduced batch by batch; `make()` gives a fresh init/update/finish."""
    for method in ("init", "update", "finish"):
        if not callable(getattr(make(), method, None)):
            raise BadContract(
                f"streamed evidence {name!r} has no {method}", received=make, allowed="init, update, finish"
            )
    _register(EvidenceKind(name, at, make, (), True))


def derived(name: str, *, at: str, there: str = "") -> Callable[[Maker], Maker]:
    """Offer evidence that is a pure function of other evidence at the same place (parameters are needs).

    With `there` its needs are met at another kind of site of that place: what enters a layer's non-linearity
    is brought beside what leaves it.
    """

    def declare(function: Maker) -> Maker:
        needs = tuple(inspect.signature(function).parameters)
        _register(EvidenceKind(name, at, function, needs, False, there))
        return function

    return declare


def sites_offering(need: str) -> frozenset[str]:
    """Kinds of site at which a need can be met; an unknown need lists what exists."""
    if need in GIVEN:
        return frozenset(SITES) if need == "facts" else frozenset(SITES) - WITHOUT_PASS
    if need in RAW:
        return frozenset({RAW[need]})
    if need not in EVIDENCE:
        raise UnknownName("evidence", need, [*EVIDENCE, *RAW, *GIVEN])
    offered = set()
    for at, kind in EVIDENCE[need].items():
        if all(kind.source in sites_offering(deeper) for deeper in kind.needs):
            offered.add(at)
    return frozenset(offered)


def evidence_of(need: str, at: str, held: dict[str, Any]) -> Any:
    """Evidence at one place from what is held there, derived (and held from then on) where it must be.

    A Reading where there is none.
    """
    if need not in held:
        kind = EVIDENCE.get(need, {}).get(at)
        if kind is None or kind.streamed:
            return undefined(Status.NOT_OBSERVABLE, f"no {need} was seen")
        sources = [evidence_of(deeper, at, held) for deeper in kind.needs]
        missing = next((source for source in sources if isinstance(source, Reading)), None)
        held[need] = kind.make(*sources) if missing is None else missing
    return held[need]

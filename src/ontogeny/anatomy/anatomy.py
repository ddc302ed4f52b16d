"""Where things are in a model: its blocks, its sites, its weight matrices. Data only; nothing is run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from torch import Tensor, nn

from ontogeny.vocabulary import Place

#: Sites that belong to no layer, and those seen where attention is computed.
WHOLE = ("embedding", "final_state", "logits")
AT_ATTENTION = ("query", "key", "value", "attention")

#: Every site a module's input or output may show; with those at attention and `module`, all that is tappable.
AT_MODULES = (
    "embedding",
    "residual",
    "head_output",
    "attention_output",
    "mlp_preactivation",
    "mlp_activation",
    "mlp_output",
    "final_state",
    "logits",
)
MODULE = "module"
TAPPABLE = (*AT_MODULES, *AT_ATTENTION, MODULE)


@dataclass(frozen=True)
class Spot:
    """The input or the output of a module; with `heads`, its last axis is cut into that many."""

    path: str
    side: Literal["input", "output"] = "output"
    heads: int = 0


@dataclass(frozen=True)
class Projections:
    """Where heads' weights are, as paths below a block; a fused matrix is named three times.

    fused  "": three matrices; "thirds": all queries, all keys, all values; "by head": query, key, value of
           the first head, of the second …
    norm   what the stream passes before queries, keys and values are made of it; "" where it passes none,
           None where that is not known
    """

    query: str
    key: str
    value: str
    output: str
    fused: Literal["", "thirds", "by head"] = ""
    norm: str | None = None


@dataclass(frozen=True)
class Readout:
    """How the stream becomes logits: norm, unembedding, logits · scale, then cap · tanh(logits / cap).

    Paths are "" where there is none; an unembedding of "" is the embedding. `gain_offset` is what a norm
    adds to its stored gain (Gemma: 1), `embedding_scale` what the embedding's rows are multiplied with.
    """

    embedding: str = ""
    embedding_scale: float = 1.0
    unembedding: str = ""
    final_norm: str = ""
    gain_offset: float = 0.0
    scale: float = 1.0
    cap: float = 0.0


@dataclass(frozen=True)
class Anatomy:
    """A map from places to module paths. What a model does not show is missing, and `notes` say why.

    attention     modules that call the attention function; empty where patterns cannot be seen
    sites         spots of every site seen at modules: one a layer, or one in all
    branch_norms  norms that attention's and the MLP's output pass before they are added, below a block
    stream_norms  norms that the stream passes after each addition (post-norm), below a block
    claims        identities that hold: "embedding" (block 0 is given the embedding's rows), "sum" (a block
                  adds attention_output and mlp_output), "readout" (`readout` gives the logits)
    guessed       read off the structure: a claim or site that fails its check is dropped, not refused
    """

    family: str
    layers: int
    heads: int
    width: int
    vocabulary: int
    context: int
    blocks: tuple[str, ...]
    attention: tuple[str, ...]
    loops: int = 1
    key_value_heads: int = 0
    head_dim: int = 0
    neurons: int = 0
    causal: bool = True
    mlp: tuple[str, ...] = ()
    sites: Mapping[str, tuple[Spot, ...]] = field(default_factory=dict)
    projections: Projections | None = None
    readout: Readout | None = None
    branch_norms: tuple[str, str] = ("", "")
    stream_norms: tuple[str, str] = ("", "")
    claims: frozenset[str] = frozenset()
    notes: Mapping[str, str] = field(default_factory=dict)
    guessed: bool = False

    def __post_init__(self) -> None:
        """What follows from the rest: the stream around blocks, as many key-value heads as heads."""
        if self.blocks:
            stream = {
                "embedding": (Spot(self.blocks[0], "input"),),
                "residual": tuple(map(Spot, self.blocks)),
            }
            object.__setattr__(self, "sites", {**stream, **self.sites})
        object.__setattr__(self, "key_value_heads", self.key_value_heads or self.heads)
        object.__setattr__(self, "head_dim", self.head_dim or (self.width // self.heads if self.heads else 0))

    @property
    def embedding(self) -> str:
        return self.readout.embedding if self.readout else ""

    @property
    def unembedding(self) -> str:
        return (self.readout.unembedding or self.readout.embedding) if self.readout else ""

    @property
    def final_norm(self) -> str:
        return self.readout.final_norm if self.readout else ""

    def shows(self, site: str) -> bool:
        """Whether anything can be seen at a site."""
        if site in AT_ATTENTION:
            return bool(self.attention) and site not in self.notes
        return site == MODULE or bool(self.sites.get(site))

    def why_not(self, site: str) -> str:
        """The reason why a site cannot be seen."""
        return self.notes.get(site, f"the map of {self.family!r} models has no {site}")

    def without(self, wrong: Mapping[str, str]) -> "Anatomy":
        """This map without sites and claims that did not hold, and the reasons among its notes."""
        sites = {site: spots for site, spots in self.sites.items() if site not in wrong}
        projections = None if "head" in wrong else self.projections
        return replace(
            self,
            sites={**sites, **{site: () for site in wrong if site in self.sites}},
            attention=() if set(AT_ATTENTION) <= set(wrong) else self.attention,
            projections=projections,
            claims=self.claims - wrong.keys(),
            notes={**self.notes, **wrong},
        )

    def place(self, layer: int, loop: int = 0) -> Place:
        """The place of a layer; `loop` is part of it only where the stack is applied more than once."""
        return Place(layer=layer, loop=loop) if self.loops > 1 else Place(layer=layer)

    def places(self) -> Iterator[tuple[int, Place]]:
        """Layers and their places in the order in which they are run."""
        for loop in range(self.loops):
            for layer in range(self.layers):
                yield layer, self.place(layer, loop)

    def matrices(self, model: nn.Module) -> Mapping[Place, Tensor]:
        """Every two-dimensional parameter by place, tied ones once."""
        parameters = dict(model.named_parameters())
        return {place: parameters[name].detach() for place, name in self.matrix_names(model).items()}

    def matrix_names(self, model: nn.Module) -> Mapping[Place, str]:
        """The parameter names of `matrices`."""
        return {
            self._matrix_place(path): path
            for path, parameter in model.named_parameters()
            if parameter.ndim == 2
        }

    def _matrix_place(self, path: str) -> Place:
        name = path.removesuffix(".weight")
        for layer, block in enumerate(self.blocks):
            if name.startswith(block + "."):
                return Place(layer=layer, matrix=name[len(block) + 1 :])
        return Place(matrix=name)

"""What a family's file declares, and how the declaration becomes the map of one model."""

from dataclasses import dataclass
from typing import Any

from torch import nn

from ontogeny.anatomy.anatomy import Anatomy, Projections, Readout, Spot
from ontogeny.anatomy.config import number, number_of
from ontogeny.anatomy.weights import linear_weight


@dataclass(frozen=True)
class Family:
    """Paths of one family of `transformers` models; those of a block are below the block.

    model_types     as configs write them; other models of this structure are mapped too, but as a guess
    stack           the module list, below the base model; `final_norm` and `embedding` likewise
    attention       the module that calls the attention function
    attends, feeds  modules whose output is added to the stream
    enters          what gives the input of the non-linearity (the gate's branch in a gated MLP)
    leaves          the down projection, whose input are the activations
    lacks           what a block must not have to be of this family
    rotary          positions are no part of the stream
    """

    name: str
    model_types: frozenset[str]
    stack: str
    embedding: str
    final_norm: str
    attention: str
    attends: str
    feeds: str
    projections: Projections
    enters: Spot | None
    leaves: str = ""
    branch_norms: tuple[str, str] = ("", "")
    stream_norms: tuple[str, str] = ("", "")
    lacks: tuple[str, ...] = ()
    rotary: bool = True
    causal: bool = True
    gain_offset: float = 0.0
    reads_out: bool = True
    notes: tuple[tuple[str, str], ...] = ()


def base_of(model: nn.Module) -> str:
    """The path of the model without its head; "" where the model is that itself."""
    prefix = getattr(model, "base_model_prefix", "")
    return prefix if prefix and isinstance(getattr(model, prefix, None), nn.Module) else ""


def has(module: nn.Module, path: str) -> bool:
    """Whether there is a module at a path."""
    try:
        module.get_submodule(path)
    except AttributeError:
        return False
    return True


def fits(family: Family, model: nn.Module) -> bool:
    """Whether a model has every module the family names, and none that it must not have."""
    stack = below(base_of(model), family.stack)
    if not has(model, stack) or not isinstance(model.get_submodule(stack), nn.ModuleList):
        return False
    blocks = list(model.get_submodule(stack).children())
    said = family.projections
    wanted = {family.attention, family.attends, family.feeds, family.leaves, *family.branch_norms}
    wanted |= {*family.stream_norms, said.query, said.key, said.value, said.output, said.norm or ""}
    wanted |= {family.enters.path} if family.enters else set()
    return bool(blocks) and all(
        all(has(block, path) for path in wanted) and not any(has(block, path) for path in family.lacks)
        for block in blocks
    )


def mapped(family: Family, model: nn.Module) -> Anatomy:
    """The map of a model that fits a family."""
    config: Any = getattr(model, "config", None)
    base = base_of(model)
    stack = below(base, family.stack)
    blocks = tuple(f"{stack}.{layer}" for layer in range(len(list(model.get_submodule(stack).children()))))
    heads = int(config.num_attention_heads)
    readout, reads_out = _readout(family, model, config, base)
    claims = {"sum"} | ({"embedding"} if family.rotary else set()) | ({"readout"} if reads_out else set())
    notes = dict(family.notes)
    if "logits" not in (sites := _sites(family, model, blocks, heads, base)):
        notes["logits"] = f"a {type(model).__name__} has no unembedding"
    return Anatomy(
        family=str(config.model_type),
        layers=len(blocks),
        heads=heads,
        width=int(config.hidden_size),
        vocabulary=int(config.vocab_size),
        context=number(config, "max_position_embeddings") or 1024,
        blocks=blocks,
        attention=tuple(below(block, family.attention) for block in blocks),
        key_value_heads=number(config, "num_key_value_heads"),
        head_dim=number(config, "head_dim"),
        neurons=_neurons(family, model, blocks[0]),
        causal=family.causal or bool(getattr(config, "is_decoder", False)),
        mlp=tuple(below(block, family.feeds) for block in blocks),
        sites=sites,
        projections=family.projections,
        readout=readout,
        branch_norms=family.branch_norms,
        stream_norms=family.stream_norms,
        claims=frozenset(claims),
        notes=notes,
        guessed=str(config.model_type) not in family.model_types,
    )


def _sites(
    family: Family, model: nn.Module, blocks: tuple[str, ...], heads: int, base: str
) -> dict[str, tuple[Spot, ...]]:
    def each(spot: Spot) -> tuple[Spot, ...]:
        return tuple(Spot(below(block, spot.path), spot.side, spot.heads) for block in blocks)

    sites = {
        "head_output": each(Spot(family.projections.output, "input", heads)),
        "attention_output": each(Spot(family.branch_norms[0] or family.attends)),
        "mlp_output": each(Spot(family.branch_norms[1] or family.feeds)),
        "final_state": (Spot(below(base, family.final_norm) if family.final_norm else blocks[-1]),),
    }
    if family.enters is not None:
        sites |= {
            "mlp_preactivation": each(family.enters),
            "mlp_activation": each(Spot(family.leaves, "input")),
        }
    if output_embeddings(model) is not None:
        sites["logits"] = (Spot(""),)
    return sites


def _readout(family: Family, model: nn.Module, config: Any, base: str) -> tuple[Readout, bool]:
    """Where the stream becomes logits, and whether the norm and one matrix are all there is to it."""
    unembedding = output_embeddings(model)
    embedding = below(base, family.embedding)
    rows = model.get_submodule(embedding)
    division = number_of(config, "logits_scaling") or 1.0
    return Readout(
        embedding=embedding,
        embedding_scale=number_of(rows, "scalar_embed_scale")
        or number_of(config, "embedding_multiplier")
        or 1.0,
        unembedding="" if unembedding is None else path_of(model, unembedding),
        final_norm=below(base, family.final_norm) if family.final_norm else "",
        gain_offset=family.gain_offset,
        scale=(number_of(config, "logit_scale") or 1.0) / division,
        cap=number_of(config, "final_logit_softcapping"),
    ), family.reads_out and unembedding is not None


def _neurons(family: Family, model: nn.Module, block: str) -> int:
    return linear_weight(model.get_submodule(below(block, family.leaves))).shape[1] if family.enters else 0


def output_embeddings(model: Any) -> nn.Module | None:
    """The unembedding of a `transformers` model, where it has one."""
    getter = getattr(model, "get_output_embeddings", None)
    found = getter() if getter is not None else None
    return found if isinstance(found, nn.Module) else None


def path_of(model: nn.Module, wanted: nn.Module) -> str:
    """The first path at which a module is found."""
    return next(path for path, module in model.named_modules() if module is wanted)


def below(base: str, path: str) -> str:
    """A path below another, either of which may be empty."""
    return ".".join(filter(None, (base, path)))

"""Our own decoder."""

from ontogeny.anatomy.anatomy import Anatomy, Projections, Readout, Spot
from ontogeny.models.decoder import Decoder

_OF_MLP = ("mlp_preactivation", "mlp_activation", "mlp_output")


def read_decoder(model: Decoder) -> Anatomy:
    """The map of a Decoder; its module paths are regular by construction."""
    config = model.config
    blocks = tuple(f"blocks.{layer}" for layer in range(config.layers))
    before = config.norm_place == "pre"
    sites = _sites(blocks, config.heads, "mlp.gate" if config.mlp == "swiglu" else "mlp.up", config.neurons)
    claims = {"sum", "readout"} | ({"embedding"} if config.positions != "learned" else set())
    return Anatomy(
        family="ontogeny",
        layers=config.layers,
        heads=config.heads,
        width=config.width,
        vocabulary=config.vocabulary,
        context=config.context,
        blocks=blocks,
        attention=tuple(f"{block}.attention" for block in blocks),
        loops=config.loops,
        key_value_heads=config.key_heads,
        head_dim=config.head_size,
        neurons=config.neurons,
        mlp=tuple(f"{block}.mlp" for block in blocks) if config.neurons else (),
        sites={**sites, "final_state": (Spot("final_norm" if before else blocks[-1]),)},
        projections=Projections(
            "attention.query",
            "attention.key",
            "attention.value",
            "attention.output",
            norm="attention_norm" if before else "",
        ),
        readout=Readout(
            embedding="embedding",
            unembedding="" if config.tied else "unembedding",
            final_norm="final_norm" if before else "",
        ),
        stream_norms=("", "") if before else ("attention_norm", "mlp_norm" if config.neurons else ""),
        claims=frozenset(claims),
        notes={} if config.neurons else dict.fromkeys(_OF_MLP, "its blocks have attention only"),
    )


def _sites(blocks: tuple[str, ...], heads: int, enters: str, neurons: int) -> dict[str, tuple[Spot, ...]]:
    def each(spot: Spot) -> tuple[Spot, ...]:
        return tuple(Spot(f"{block}.{spot.path}", spot.side, spot.heads) for block in blocks)

    attention = {
        "logits": (Spot(""),),
        "head_output": each(Spot("attention.output", "input", heads)),
        "attention_output": each(Spot("attention")),
    }
    if not neurons:
        return attention
    return {
        **attention,
        "mlp_preactivation": each(Spot(enters)),
        "mlp_activation": each(Spot("mlp.down", "input")),
        "mlp_output": each(Spot("mlp")),
    }

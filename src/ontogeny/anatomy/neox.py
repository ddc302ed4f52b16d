"""GPT-NeoX (Pythia): fused by head; attention and MLP read the same stream where `use_parallel_residual`."""

from ontogeny.anatomy.anatomy import Projections, Spot
from ontogeny.anatomy.family import Family

_FUSED = "attention.query_key_value"

FAMILY = Family(
    name="gpt_neox",
    model_types=frozenset({"gpt_neox"}),
    stack="layers",
    embedding="embed_in",
    final_norm="final_layer_norm",
    attention="attention",
    attends="post_attention_dropout",
    feeds="post_mlp_dropout",
    projections=Projections(_FUSED, _FUSED, _FUSED, "attention.dense", "by head", "input_layernorm"),
    enters=Spot("mlp.dense_h_to_4h"),
    leaves="mlp.dense_4h_to_h",
)

"""GPT-2: fused queries, keys and values in a transposed matrix, learned positions."""

from ontogeny.anatomy.anatomy import Projections, Spot
from ontogeny.anatomy.family import Family

FAMILY = Family(
    name="gpt2",
    model_types=frozenset({"gpt2"}),
    stack="h",
    embedding="wte",
    final_norm="ln_f",
    attention="attn",
    attends="attn",
    feeds="mlp",
    projections=Projections("attn.c_attn", "attn.c_attn", "attn.c_attn", "attn.c_proj", "thirds", "ln_1"),
    enters=Spot("mlp.c_fc"),
    leaves="mlp.c_proj",
    rotary=False,
)

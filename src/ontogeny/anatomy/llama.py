"""Llama and its relatives: Mistral, Qwen 2 and 3 (norms on queries and keys), OLMo 1, SmolLM."""

from ontogeny.anatomy.anatomy import Projections, Spot
from ontogeny.anatomy.family import Family

PROJECTIONS = Projections(
    "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", norm="input_layernorm"
)

FAMILY = Family(
    name="llama",
    model_types=frozenset({"llama", "mistral", "qwen2", "qwen3", "olmo", "smollm3"}),
    stack="layers",
    embedding="embed_tokens",
    final_norm="norm",
    attention="self_attn",
    attends="self_attn",
    feeds="mlp",
    projections=PROJECTIONS,
    enters=Spot("mlp.gate_proj"),
    leaves="mlp.down_proj",
    lacks=("pre_feedforward_layernorm", "post_feedforward_layernorm"),
)

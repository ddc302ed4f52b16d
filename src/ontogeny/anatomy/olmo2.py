"""OLMo 2: no norm before attention and MLP, one on what each of them adds."""

from dataclasses import replace

from ontogeny.anatomy import llama

FAMILY = replace(
    llama.FAMILY,
    name="olmo2",
    model_types=frozenset({"olmo2", "olmo3"}),
    projections=replace(llama.PROJECTIONS, norm=""),
    branch_norms=("post_attention_layernorm", "post_feedforward_layernorm"),
    lacks=("pre_feedforward_layernorm", "input_layernorm"),
)

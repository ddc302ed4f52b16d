"""Mixtral, OLMoE and other mixtures of experts with a Llama's attention."""

from dataclasses import replace

from ontogeny.anatomy import llama

_WHY = "each token passes some experts only, whose weights are stacked and whose neurons no module shows"

FAMILY = replace(
    llama.FAMILY,
    name="moe",
    model_types=frozenset({"mixtral", "olmoe"}),
    enters=None,
    leaves="mlp.experts",
    notes=(("mlp_preactivation", _WHY), ("mlp_activation", _WHY)),
)

"""Phi 1 and 2: attention and MLP read the same normed stream; the unembedding has a bias."""

from dataclasses import replace

from ontogeny.anatomy import llama
from ontogeny.anatomy.anatomy import Spot

FAMILY = replace(
    llama.FAMILY,
    name="phi",
    model_types=frozenset({"phi"}),
    final_norm="final_layernorm",
    projections=replace(llama.PROJECTIONS, output="self_attn.dense"),
    enters=Spot("mlp.fc1"),
    leaves="mlp.fc2",
    lacks=(),
)

"""Which features of our decoder may change places together: spaces, and the tensor axes that run over each.

A *space* is one set of features: the hidden units of one MLP, the residual stream. Reordering every axis of
a space alike leaves the function as it is, as far as the space's own structure (heads) is kept.
"""

from collections.abc import Mapping

from torch import Tensor

RESIDUAL = "residual"
#: Spaces of one attention layer, in the order the solver takes them.
ATTENTION = ("query", "key", "value", "mixed")
#: Axes of a block's tensors that run over its own spaces, and over the residual stream.
BLOCK_AXES = {
    "mlp.hidden": {"mlp.gate.weight": 0, "mlp.gate.bias": 0, "mlp.up.weight": 0, "mlp.up.bias": 0}
    | {"mlp.down.weight": 1},
    "attention.query": {"attention.query.weight": 0, "attention.query.bias": 0},
    "attention.key": {"attention.key.weight": 0, "attention.key.bias": 0},
    "attention.value": {"attention.value.weight": 0, "attention.value.bias": 0},
    "attention.mixed": {"attention.output.weight": 1},
}
BLOCK_RESIDUAL = {
    **{f"{norm}.{kind}": 0 for norm in ("attention_norm", "mlp_norm") for kind in ("weight", "bias")},
    **{f"attention.{name}.weight": 1 for name in ("query", "key", "value")},
    **{f"{name}.{kind}": 0 for name in ("attention.output", "mlp.down") for kind in ("weight", "bias")},
    **{f"mlp.{name}.weight": 1 for name in ("gate", "up")},
}
OUTER_RESIDUAL = {
    **{f"{name}.weight": 1 for name in ("embedding", "position_embedding", "unembedding")},
    "final_norm.weight": 0,
    "final_norm.bias": 0,
}


def feature_spaces(state: Mapping[str, Tensor], layers: int) -> dict[str, dict[str, int]]:
    """Every space with the axes that run over it, of those tensors that are there."""
    spaces = {RESIDUAL: dict(OUTER_RESIDUAL)}
    for layer in range(layers):
        block = f"blocks.{layer}."
        for space, axes in BLOCK_AXES.items():
            spaces[block + space] = {block + name: axis for name, axis in axes.items()}
        spaces[RESIDUAL] |= {block + name: axis for name, axis in BLOCK_RESIDUAL.items()}
    present = {space: {n: a for n, a in axes.items() if n in state} for space, axes in spaces.items()}
    return {space: axes for space, axes in present.items() if axes}

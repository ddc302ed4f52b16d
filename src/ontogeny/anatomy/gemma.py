"""Gemma: scaled embedding, gains stored less 1; Gemma 2 and 3 also norm what attention and MLP add."""

from dataclasses import replace

from ontogeny.anatomy import llama

NORMED = replace(
    llama.FAMILY,
    name="gemma",
    model_types=frozenset({"gemma2", "gemma3_text"}),
    branch_norms=("post_attention_layernorm", "post_feedforward_layernorm"),
    lacks=(),
    gain_offset=1.0,
)

#: Gemma 1 is a Llama by its module names; only its type tells that gains are stored less 1.
FIRST = replace(llama.FAMILY, name="gemma1", model_types=frozenset({"gemma"}), gain_offset=1.0)

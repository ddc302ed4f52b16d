"""Maps of transformers models."""

from types import SimpleNamespace

import pytest
from torch import nn

from ontogeny.anatomy import read_anatomy
from ontogeny.anatomy.causal_lm import read_causal_lm
from ontogeny.errors import NotObservable


def fake(blocks: nn.Module, layers: int) -> nn.Module:
    """A model with a stack, none of whose blocks has an attention that can be seen."""
    model = nn.Module()
    model.experts, model.stack = nn.ModuleList([nn.Linear(2, 2)] * (layers + 1)), blocks
    model.config = SimpleNamespace(
        num_hidden_layers=layers, num_attention_heads=2, hidden_size=8, vocab_size=11, model_type="fake"
    )
    return model


def test_the_stack_is_the_list_as_long_as_the_model_has_layers():
    found = read_causal_lm(fake(nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)]), 2))
    assert found.blocks == ("stack.0", "stack.1")
    assert found.attention == ()
    assert "registry" in found.why_not("attention")
    assert (found.family, found.heads, found.width, found.vocabulary, found.context) == (
        "fake",
        2,
        8,
        11,
        1024,
    )


def test_no_such_stack_is_said():
    with pytest.raises(NotObservable, match="no stack of 3 blocks"):
        read_causal_lm(fake(nn.ModuleList([nn.Linear(8, 8)]), 3))


def test_no_config_is_said():
    with pytest.raises(NotObservable, match="where the blocks of a Linear are"):
        read_causal_lm(nn.Linear(2, 2))


def test_without_config_or_stack_it_is_a_module():
    assert read_anatomy(fake(nn.ModuleList([nn.Linear(8, 8)]), 3)).blocks == ()

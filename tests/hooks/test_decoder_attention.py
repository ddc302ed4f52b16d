"""The replaceable function of our own attention."""

import pytest
import torch

from ontogeny.hooks.decoder_attention import tapped_attend
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.models.decoder import attend
from ontogeny.vocabulary import Streams

CONFIG = DecoderConfig(vocabulary=11, context=16, width=16, layers=2, heads=4, kv_heads=2)
TOKENS = torch.arange(32).view(2, 16) % 11


@pytest.fixture
def model() -> Decoder:
    return Decoder(CONFIG, Streams(0).generator("tiny")).eval()


def modules(model: Decoder) -> list:
    return [block.attention for block in model.blocks]


def test_patterns_of_grouped_heads_are_causal_and_complete(model):
    seen = {}
    with (
        torch.no_grad(),
        tapped_attend(modules(model), lambda layer, loop, x: seen.update({(layer, loop): x})),
    ):
        tapped = model(TOKENS)
    with torch.no_grad():
        torch.testing.assert_close(tapped, model(TOKENS), atol=1e-5, rtol=0)
    assert list(seen) == [(0, 0), (1, 0)]
    assert all(pattern.shape == (2, 4, 16, 16) for pattern in seen.values())
    assert all(pattern.triu(1).abs().max() == 0 for pattern in seen.values())


def test_putting_the_pattern_back_changes_nothing(model):
    with torch.no_grad(), tapped_attend(modules(model), lambda layer, loop, x: x.clone()):
        put_back = model(TOKENS)
    torch.testing.assert_close(put_back, model(TOKENS), atol=1e-5, rtol=0)


def test_a_former_function_is_put_back_and_taps_may_be_nested(model):
    own = lambda query, key, value, *, layer, loop: attend(query, key, value, layer=layer, loop=loop)
    model.blocks[0].attention.attend = own

    def fails():
        with tapped_attend(modules(model), lambda layer, loop, x: None):
            inside = model.blocks[0].attention.attend
            with tapped_attend(modules(model), lambda layer, loop, x: None):
                assert model.blocks[0].attention.attend is not inside
            assert model.blocks[0].attention.attend is inside
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert model.blocks[0].attention.attend is own
    assert model.blocks[1].attention.attend is attend

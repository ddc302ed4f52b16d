"""The replaceable function of our own attention."""

import pytest
import torch

from ontogeny.hooks.decoder_attention import tapped_attend
from ontogeny.hooks.watch import Watch
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.models.decoder import attend
from ontogeny.vocabulary import Place, Streams

CONFIG = DecoderConfig(vocabulary=11, context=16, width=16, layers=2, heads=4, kv_heads=2)
TOKENS = torch.arange(32).view(2, 16) % 11


@pytest.fixture
def model() -> Decoder:
    return Decoder(CONFIG, Streams(0).generator("tiny")).eval()


def watching(model: Decoder, tap, site: str = "attention"):
    """`tap(layer, tensor)` at a site of every attention module."""
    return tapped_attend(
        {
            block.attention: {
                site: Watch(site, "", [Place(layer=k)], lambda place, x: tap(place["layer"], x))
            }
            for k, block in enumerate(model.blocks)
        }
    )


def test_patterns_of_grouped_heads_are_causal_and_complete(model):
    seen = {}
    with (
        torch.no_grad(),
        watching(model, lambda layer, x: seen.update({layer: x})),
    ):
        tapped = model(TOKENS)
    with torch.no_grad():
        torch.testing.assert_close(tapped, model(TOKENS), atol=1e-5, rtol=0)
    assert list(seen) == [0, 1]
    assert all(pattern.shape == (2, 4, 16, 16) for pattern in seen.values())
    assert all(pattern.triu(1).abs().max() == 0 for pattern in seen.values())


def test_putting_the_pattern_back_changes_nothing(model):
    with torch.no_grad(), watching(model, lambda layer, x: x.clone()):
        put_back = model(TOKENS)
    torch.testing.assert_close(put_back, model(TOKENS), atol=1e-5, rtol=0)


def test_a_former_function_is_put_back_and_taps_may_be_nested(model):
    own = lambda query, key, value, *, layer, loop: attend(query, key, value, layer=layer, loop=loop)
    model.blocks[0].attention.attend = own

    def fails():
        with watching(model, lambda layer, x: None):
            inside = model.blocks[0].attention.attend
            with watching(model, lambda layer, x: None):
                assert model.blocks[0].attention.attend is not inside
            assert model.blocks[0].attention.attend is inside
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert model.blocks[0].attention.attend is own
    assert model.blocks[1].attention.attend is attend


@pytest.mark.parametrize("site", ["query", "key", "value"])
def test_what_attention_is_given_is_shown_by_the_models_own_kernel(model, site):
    calls = []
    own = lambda query, key, value, *, layer, loop: (
        calls.append(layer) or attend(query, key, value, layer=layer, loop=loop)
    )
    for block in model.blocks:
        block.attention.attend = own
    with torch.no_grad():
        plain = model(TOKENS)
        with watching(model, lambda layer, x: None, site):
            assert torch.equal(model(TOKENS), plain)
        assert calls == [0, 1, 0, 1]
        with watching(model, lambda layer, x: x.flip(2), site):
            assert (model(TOKENS) - plain).abs().max() > 1e-6


def test_nested_taps_are_all_asked_in_order(model):
    heard = []
    with (
        torch.no_grad(),
        watching(model, lambda layer, x: heard.append(("outer", layer))),
        watching(model, lambda layer, x: heard.append(("inner", layer)), "query"),
    ):
        model(TOKENS)
    assert heard == [("inner", 0), ("outer", 0), ("inner", 1), ("outer", 1)]

"""Every axis of a decoder's tensors that runs over features belongs to exactly one space."""

import pytest

from ontogeny.models import Decoder, DecoderConfig
from ontogeny.numerics.feature_spaces import feature_spaces


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tied": False, "bias": True, "norm": "layernorm", "mlp": "gelu", "positions": "learned"},
        {"mlp": "none", "norm_place": "post", "kv_heads": 2},
    ],
)
def test_every_axis_but_tokens_and_positions_is_in_one_space(changes):
    model = Decoder(DecoderConfig(vocabulary=11, context=7, width=16, layers=2, heads=4, **changes))
    state = model.state_dict()
    found = [axis for axes in feature_spaces(state, 2).values() for axis in axes.items()]
    outside = {(name, 0) for name in state if "embedding" in name}
    every = {(name, axis) for name, tensor in state.items() for axis in range(tensor.ndim)}
    assert len(found) == len(set(found))
    assert set(found) == every - outside


def test_a_space_has_one_size():
    config = DecoderConfig(vocabulary=11, context=7, width=16, layers=2, heads=4, kv_heads=1, bias=True)
    state = Decoder(config).state_dict()
    for axes in feature_spaces(state, 2).values():
        assert len({state[name].shape[axis] for name, axis in axes.items()}) == 1

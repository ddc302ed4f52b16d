"""An MLP's neurons at a fixed choice of tokens."""

import pytest
import torch

from ontogeny.evidence import EVIDENCE
from ontogeny.evidence.neuron_sample import WIDEST, of_preactivation
from ontogeny.evidence.residual_sample import ROWS, chosen_positions


@pytest.mark.parametrize("at", ["mlp_preactivation", "mlp_activation"])
def test_of_few_tokens_it_holds_all_but_position_zero(at, reduced, shown):
    neurons = shown(at)
    assert torch.equal(reduced("neuron_sample", at, neurons, 2), neurons[:, 1:].flatten(0, 1))


def test_wide_layers_have_as_many_tokens_as_neurons_up_to_a_limit(reduced):
    tokens = torch.arange(40.0 * 50).view(40, 50, 1)
    for width, rows in ((1, ROWS), (1500, 1500), (WIDEST + 1, ROWS)):
        found = reduced("neuron_sample", "mlp_activation", tokens.expand(40, 50, width), 16)
        assert found.shape == (rows, width)
        assert torch.equal(found[:, 0], chosen_positions(40, 50, rows).float())


def test_narrow_layers_share_the_tokens_of_the_stream(reduced):
    tokens = torch.arange(40.0 * 50).view(40, 50, 1)
    neurons, stream = (
        reduced(name, at, tokens)
        for name, at in (("neuron_sample", "mlp_activation"), ("residual_sample", "residual"))
    )
    assert torch.equal(neurons, stream)


def test_what_goes_in_is_brought_beside_what_comes_out():
    kind = EVIDENCE["preactivation_sample"]["mlp_activation"]
    assert (kind.source, kind.needs) == ("mlp_preactivation", ("neuron_sample",))
    sample = torch.ones(3, 2)
    assert of_preactivation(sample) is sample

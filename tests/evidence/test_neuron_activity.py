"""How active each neuron is, position 0 apart."""

import torch


def test_it_sums_over_all_tokens_position_zero_apart(reduced, shown):
    neurons = shown("mlp_activation").relu()
    neurons[:, 0] *= 1e4
    found = reduced("neuron_activity", "mlp_activation", neurons, 4)
    for seen, tokens in ((found.rest, neurons[:, 1:]), (found.first, neurons[:, :1])):
        values = tokens.flatten(0, 1).double()
        torch.testing.assert_close(seen.size, values.abs().sum(0), rtol=1e-6, atol=0)
        torch.testing.assert_close(seen.energy, values.square().sum(0), rtol=1e-6, atol=0)
        assert int(seen.zeros) == int((values == 0).sum()) > 0
        assert seen.n == len(values)


def test_both_together_are_all_tokens(reduced, shown):
    neurons = shown("mlp_activation")
    found = reduced("neuron_activity", "mlp_activation", neurons)
    both = found.rest.plus(found.first)
    assert both.n == 6 * 20
    torch.testing.assert_close(both.size, neurons.double().abs().sum((0, 1)), rtol=1e-6, atol=0)


def test_of_one_position_nothing_is_left(reduced, shown):
    found = reduced("neuron_activity", "mlp_activation", shown("mlp_activation")[:, :1])
    assert (found.rest.n, found.first.n) == (0, 6)
    assert not found.rest.size.any()

"""How far the vectors of a sequence are from their mean."""

import torch


def share(vectors):
    vectors = vectors.double()
    apart = vectors - vectors.mean(1, keepdim=True)
    return (apart.square().sum((1, 2)) / vectors.square().sum((1, 2))).sqrt().sum()


def test_it_is_the_share_with_and_without_position_zero(reduced, shown):
    stream = shown("residual") + 2
    stream[:, 0] *= 100
    found = reduced("token_spread", "residual", stream, 4)
    expected = torch.stack([share(stream[:, 1:]), share(stream)])
    torch.testing.assert_close(found.summed, expected, rtol=1e-5, atol=0)
    assert (found.sequences, found.length, int(found.zeros)) == (6, 20, 0)


def test_a_spread_far_below_the_mean_keeps_its_digits(reduced, shown):
    stream = 1000 + 1e-2 * shown("residual")
    found = reduced("token_spread", "residual", stream)
    torch.testing.assert_close(found.summed[0], share(stream[:, 1:]), rtol=1e-3, atol=0)


def test_sequences_of_zeros_are_counted(reduced, shown):
    stream = shown("residual")
    stream[2, 1:] = 0
    assert int(reduced("token_spread", "residual", stream, 4).zeros) == 1

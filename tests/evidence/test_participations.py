"""How few entries of each vector carry it, by what is looked at."""

import torch

from ontogeny.evidence.participations import of_neurons, of_residual


def test_what_is_looked_at_has_its_name():
    flat, hot = torch.ones(3, 4), torch.eye(4)[:3]
    assert of_residual(flat)[""].values.tolist() == [0.25] * 3
    found = of_neurons(hot, flat)
    assert found["activation"].values.tolist() == [1.0] * 3
    assert found["preactivation"].values.tolist() == [0.25] * 3


def test_null_vectors_are_left_out_and_broken_ones_are_not():
    vectors = torch.ones(5, 4)
    vectors[1] = 0
    vectors[2, 3] = torch.nan
    found = of_residual(vectors)[""]
    assert found.tokens == 5
    assert found.values.isnan().tolist() == [False, True, False, False]

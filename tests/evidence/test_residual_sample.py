"""The same tokens at every checkpoint."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.evidence.residual_sample import ROWS, chosen_positions


@given(sequences=st.integers(1, 200), length=st.integers(2, 64))
def test_positions_are_distinct_increasing_evenly_spread_and_never_the_first(sequences, length):
    chosen = chosen_positions(sequences, length)
    assert len(chosen) == min(ROWS, sequences * (length - 1))
    assert (chosen % length > 0).all()
    assert (chosen.diff() > 0).all()
    assert int(chosen[-1]) < sequences * length
    if len(chosen) > 1:
        eligible = (chosen // length) * (length - 1) + chosen % length - 1
        assert int(eligible.diff().max()) - int(eligible.diff().min()) <= 1


def test_all_vectors_of_a_small_stimulus_in_their_order(reduced, shown):
    stream = shown("residual")
    for batch in (1, 4, 6):
        found = reduced("residual_sample", "residual", stream, batch)
        assert torch.equal(found, stream[:, 1:].flatten(0, 1))


def test_a_large_stimulus_is_thinned(reduced, shown):
    stream = shown("residual", 90)
    found = reduced("residual_sample", "residual", stream, batch=7)
    assert torch.equal(found, stream.flatten(0, 1)[chosen_positions(90, 20)])
    assert len(found) == ROWS


def test_one_position_leaves_nothing(reduced):
    assert len(chosen_positions(5, 1)) == 0

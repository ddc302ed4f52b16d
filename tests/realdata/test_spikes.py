"""Two spikes of a real gradient norm after warm-up, and no third of their size."""

import pytest


@pytest.fixture(scope="module")
def study_of(study):
    return study("spikes")


def test_there_are_two_spikes_and_no_third(study_of, shared_data):
    found = study_of.spikes(shared_data)
    assert [one.high for one in found] == [7435, 9025]
    assert [one.low for one in found] == [7434, 9024]
    assert [one.size for one in found] == [pytest.approx(1.17, abs=0.02), pytest.approx(1.75, abs=0.02)]
    assert all(one.p < 0.01 for one in found)


def test_smaller_ones_are_there_and_come_after_these_in_size(study_of, shared_data):
    """What is told depends on the least size; the third is 0.95 at step 9,954, from 0.27."""
    sizes = {int(one.high): one.size for one in study_of.spikes(shared_data, 0.0)}
    ordered = sorted(sizes, key=lambda step: -sizes[step])
    assert ordered[:3] == [9025, 7435, 9954]
    assert sizes[9954] == pytest.approx(0.68, abs=0.02)

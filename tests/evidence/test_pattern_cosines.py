"""Cosines of patterns, against the plainest way to compute them."""

import pytest
import torch


def plainly(pattern: torch.Tensor) -> torch.Tensor:
    """Mean over sequences of the cosines of flattened patterns [head head], the diagonal 0."""
    flat = pattern.double().flatten(2)
    found = torch.nn.functional.cosine_similarity(flat[:, :, None], flat[:, None], dim=-1).mean(0)
    return found.fill_diagonal_(0)


@pytest.mark.parametrize("sharpness", [1.0, 1e-3])
def test_raw_and_centred(reduced, shown, sharpness):
    seen = torch.ones(20, 20).tril()
    pattern = shown("attention").log().mul(sharpness).softmax(-1)
    found = reduced("pattern_cosines", "attention", pattern, batch=4)
    torch.testing.assert_close(found.raw.total / 6, plainly(pattern), rtol=1e-6, atol=1e-6)
    centred = plainly(pattern.double() - seen / seen.sum(1, keepdim=True))
    torch.testing.assert_close(found.centred.total / 6, centred, rtol=1e-3, atol=1e-3)
    assert found.raw.occasions.sum() == found.centred.occasions.sum() == 6 * 6


def test_heads_that_attend_uniformly_have_no_direction_of_their_own(reduced, uniform):
    found = reduced("pattern_cosines", "attention", uniform(5, 3, 20))
    assert found.centred.occasions.sum() == 0
    torch.testing.assert_close(found.raw.total / 5, 1.0 - torch.eye(3).double(), rtol=1e-6, atol=1e-6)


def test_an_encoder_is_centred_over_all_keys(reduced):
    even = torch.full((4, 2, 12, 12), 1 / 12)
    assert reduced("pattern_cosines", "attention", even).centred.occasions.sum() == 0
    even[:, 0] = even[:, 1] = torch.eye(12)[torch.arange(11, -1, -1)]
    assert reduced("pattern_cosines", "attention", even).centred.total[0, 1] == pytest.approx(4, rel=1e-6)


@pytest.fixture
def uniform():
    def pattern(sequences: int, heads: int, length: int) -> torch.Tensor:
        seen = torch.ones(length, length).tril()
        return (seen / seen.sum(1, keepdim=True)).expand(sequences, heads, length, length).clone()

    return pattern

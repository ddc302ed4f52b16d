"""ACT-04."""

import pytest
import torch
from torch.nn import functional as F


def test_identical_tokens_are_one(read, gaussian):
    rows = read("token_similarity", "residual", gaussian(5, 1, 32).expand(5, 16, 32).contiguous())
    assert rows[""][0]["value"] == pytest.approx(1, abs=1e-5)
    assert rows["with_first"][0]["value"] == pytest.approx(1, abs=1e-5)


def test_independent_gaussians_are_near_zero(value, gaussian):
    assert abs(value("token_similarity", "residual", gaussian(8, 64, 256))) < 1 / 16


def test_it_is_the_mean_of_the_pairs(read, gaussian):
    stream = gaussian(3, 7, 5)
    pairs = F.cosine_similarity(stream[:, :, None], stream[:, None], dim=-1)
    expected = [(pairs[:, k:, k:].sum((1, 2)) - (7 - k)) / ((7 - k) * (6 - k)) for k in (1, 0)]
    rows = read("token_similarity", "residual", stream)
    assert rows[""][0]["value"] == pytest.approx(float(expected[0].mean()), abs=1e-6)
    assert rows["with_first"][0]["value"] == pytest.approx(float(expected[1].mean()), abs=1e-6)


def test_lengths_and_order_of_tokens_do_not_matter(value, gaussian):
    stream = gaussian(3, 9, 5) + 1
    order = torch.tensor([0, 4, 2, 8, 6, 1, 3, 5, 7])
    scaled = stream[:, order] * gaussian(3, 9, 1, seed=4).exp()
    assert value("token_similarity", "residual", scaled) == pytest.approx(
        value("token_similarity", "residual", stream), rel=1e-5
    )


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (torch.zeros(3, 8, 4), "zero-output"),
        (torch.full((3, 8, 4), torch.nan), "nonfinite"),
        (torch.ones(3, 2, 4), "too-short"),
        (torch.ones(3, 1, 4), "too-short"),
    ],
)
def test_what_has_no_similarity_says_why(status, stream, expected):
    assert status("token_similarity", "residual", stream) == expected

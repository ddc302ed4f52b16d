"""How evenly a spectrum or a vector is spread."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.numerics.spectral_shape import (
    early_enrichment_of,
    inverse_participations,
    spectral_divergence,
    spectral_entropy_of,
)
from ontogeny.vocabulary import Reading, Status

spectra = st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=12).map(
    lambda values: torch.tensor(sorted(values, reverse=True), dtype=torch.float64)
)


def test_flat_and_single_spectra():
    flat, spike = torch.ones(9), torch.eye(9)[0]
    assert spectral_entropy_of(flat).value == pytest.approx(math.log(9))
    assert early_enrichment_of(flat).value == pytest.approx(0, abs=1e-12)
    assert spectral_entropy_of(spike).value == 0
    assert early_enrichment_of(spike).value == pytest.approx(8 / 9)


def test_one_hot_flat_and_gaussian_vectors():
    gaussian = torch.randn(20000, 30, generator=torch.Generator().manual_seed(0))
    assert inverse_participations(torch.eye(5)).tolist() == [1.0] * 5
    assert inverse_participations(-3e-20 * torch.ones(1, 8)).item() == pytest.approx(1 / 8)
    assert inverse_participations(gaussian).mean().item() == pytest.approx(3 / 32, rel=0.01)
    assert inverse_participations(torch.zeros(2, 5)).isnan().all()
    assert inverse_participations(torch.ones(2, 0)).isnan().all()


@given(spectra, st.floats(1e-30, 1e30))
def test_bounds_and_scale(values, scale):
    d = len(values)
    entropy, enrichment = spectral_entropy_of(values).value, early_enrichment_of(values).value
    assert 0 <= entropy <= math.log(d) + 1e-12
    assert 0 <= enrichment <= (d - 1) / d + 1e-12
    assert spectral_entropy_of(values * scale).value == pytest.approx(entropy, abs=1e-9)
    assert early_enrichment_of(values * scale).value == pytest.approx(enrichment, abs=1e-9)
    share = inverse_participations(values[None]).item()
    assert 1 / d - 1e-12 <= share <= 1 + 1e-12
    assert inverse_participations(-scale * values[None]).item() == pytest.approx(share)


@given(spectra, spectra)
def test_the_divergence_is_symmetric_and_bounded(one, other):
    d = min(len(one), len(other))
    found = spectral_divergence(one[:d], other[:d]).value
    assert 0 <= found <= math.log(2)
    assert spectral_divergence(other[:d], one[:d]).value == pytest.approx(found, abs=1e-12)
    assert spectral_divergence(one, 7 * one).value == pytest.approx(0, abs=1e-12)


def test_spectra_without_a_common_rank_are_as_far_as_can_be():
    found = spectral_divergence(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
    assert found.value == pytest.approx(math.log(2))


def test_what_has_no_shape_says_why():
    zeros, none = torch.zeros(3), Reading(math.nan, status=Status.N_TOO_SMALL, reason="few")
    for measure in (spectral_entropy_of, early_enrichment_of):
        assert measure(zeros).status is Status.ZERO_WEIGHT
        assert measure(none) is none
    assert spectral_divergence(zeros, torch.ones(3)).status is Status.ZERO_WEIGHT
    assert spectral_divergence(torch.ones(3), none) is none
    assert spectral_divergence(torch.ones(3), torch.ones(4)).status is Status.FAILED

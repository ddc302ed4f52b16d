"""Moments are those of the spectra that nobody has to compute."""

import pytest
import torch

from ontogeny.evidence.kinds import evidence_of
from ontogeny.vocabulary import Status


def test_of_outputs(reduced, shown):
    gram = reduced("head_gram", "head_output", shown("head_output"))
    moments = evidence_of("head_moments", "head_output", {"head_gram": gram})[""]
    values = torch.linalg.eigvalsh(gram.covariance())
    torch.testing.assert_close(moments.first, values.sum(1))
    torch.testing.assert_close(moments.second, values.square().sum(1))
    assert (moments.channels, moments.n) == (4, 6 * 19)


def test_of_weights():
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(3, 10, generator=generator) for _ in range(3))
    output = torch.randn(10, 3, generator=generator)
    held = {"head_query": query, "head_key": key, "head_value": value, "head_output_weight": output}
    found = evidence_of("head_moments", "head", held)
    wide = {"query_key": query.mT @ key, "value_output": output @ value}
    assert set(found) == set(wide)
    for name, matrix in wide.items():
        squares = torch.linalg.svdvals(matrix.double())[:3].square()
        ratio = float(found[name].first ** 2 / found[name].second)
        assert ratio == pytest.approx(float(squares.sum() ** 2 / squares.square().sum()), rel=1e-6)
        assert found[name].n is None


def test_one_vector_has_no_covariance(reduced, shown):
    gram = reduced("head_gram", "head_output", shown("head_output")[:1, :2])
    assert evidence_of("head_moments", "head_output", {"head_gram": gram}).status is Status.N_TOO_SMALL

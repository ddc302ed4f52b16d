import math

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ontogeny.numerics.spectra import (
    eigenvalues_of_gram,
    entropy_rank,
    factors,
    participation_of,
    rankme_of,
    singular_values,
    stable_rank_of,
)
from ontogeny.vocabulary import Reading, Status

torch.set_num_threads(1)


def gaussian(rows, columns, seed=0):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def covariance(samples):
    centred = samples - samples.mean(0)
    return centred.mT @ centred / (len(samples) - 1)


def refused(reading):
    assert isinstance(reading, Reading)
    assert math.isnan(reading.value)
    assert reading.reason
    return reading.status


@pytest.mark.parametrize(("shape", "plain", "squared"), [((256, 256), 0.80, 0.60), ((1024, 256), 0.97, 0.88)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_effective_rank_of_a_gaussian_matrix(shape, plain, squared, seed):
    sigma = singular_values(gaussian(*shape, seed))
    assert entropy_rank(sigma).value / 256 == pytest.approx(plain, abs=0.006)
    assert entropy_rank(sigma**2).value / 256 == pytest.approx(squared, abs=0.006)


@pytest.mark.parametrize("rank", [entropy_rank, stable_rank_of, participation_of])
def test_equal_values_count_themselves_and_one_value_counts_one(rank):
    assert rank(singular_values(torch.eye(17))).value == pytest.approx(17, abs=1e-12)
    assert rank(singular_values(torch.outer(torch.arange(1.0, 6), torch.ones(9)))).value == pytest.approx(1)
    assert rank(torch.tensor([3.0, 3.0, 3.0, 0.0])).value == pytest.approx(3, abs=1e-12)


def test_stable_rank_of_gaussian_matrices():
    square = stable_rank_of(singular_values(gaussian(256, 256))).value
    assert square == pytest.approx(63.6, abs=2.5)
    m, n = 1024, 256
    wide = stable_rank_of(singular_values(gaussian(m, n))).value
    assert wide == pytest.approx(m * n / (math.sqrt(m) + math.sqrt(n)) ** 2, rel=0.03)


@pytest.mark.parametrize(("samples", "value"), [(4096, 63.0), (512, 56.8)])
def test_participation_of_isotropic_data_follows_its_sample_size(samples, value):
    found = participation_of(eigenvalues_of_gram(covariance(gaussian(samples, 64)))).value
    assert found == pytest.approx(value, abs=0.5)
    assert value == pytest.approx(64 / (1 + 65 / samples), abs=0.05)


def test_participation_of_a_gaussian_weight_matrix():
    weight = gaussian(512, 128)
    found = participation_of(eigenvalues_of_gram(weight.mT @ weight)).value
    assert found == pytest.approx(128 / (1 + 128 / 512), rel=0.01)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 12), st.sampled_from([1e-150, 1e-3, 1e150]))
def test_ranks_lie_between_one_and_the_rank_and_ignore_scale_and_rotation(seed, rows, columns, scale):
    matrix = gaussian(rows, columns, seed)
    rotation = torch.linalg.qr(gaussian(columns, columns, seed + 1))[0]
    for rank in (entropy_rank, stable_rank_of, participation_of):
        value = rank(singular_values(matrix)).value
        assert 1 - 1e-9 <= value <= min(rows, columns) + 1e-9
        assert rank(singular_values(scale * matrix @ rotation)).value == pytest.approx(value, rel=1e-8)


def test_gram_eigenvalues_are_squared_singular_values_in_order():
    matrix = gaussian(30, 8)
    values = eigenvalues_of_gram(matrix.mT @ matrix)
    torch.testing.assert_close(values, singular_values(matrix) ** 2)
    assert torch.equal(values, values.sort(descending=True).values)


def test_rounding_of_a_low_rank_gram_counts_as_zero():
    matrix = gaussian(20, 3) @ gaussian(3, 10)
    values = eigenvalues_of_gram(matrix.mT @ matrix)
    assert int((values > 0).sum()) == 3
    single = eigenvalues_of_gram((matrix.mT @ matrix).float())
    assert isinstance(single, torch.Tensor)
    assert single.min() >= 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.int64])
def test_every_dtype_is_computed_in_float64(dtype):
    matrix = (4 * gaussian(6, 6)).to(dtype)
    assert torch.equal(singular_values(matrix), singular_values(matrix.double()))
    gram = torch.eye(3).to(dtype)
    assert torch.equal(eigenvalues_of_gram(gram), torch.ones(3, dtype=torch.float64))


def test_gradients_are_not_tracked():
    matrix = torch.eye(3, requires_grad=True)
    assert not singular_values(matrix).requires_grad


@pytest.mark.parametrize("decompose", [singular_values, eigenvalues_of_gram])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nonfinite_input_names_the_first_bad_entry(decompose, bad):
    matrix = torch.eye(4)
    matrix[1, 2] = matrix[3, 0] = bad
    reading = decompose(matrix)
    assert refused(reading) is Status.NONFINITE
    assert "2 of 16" in reading.reason
    assert "(1, 2)" in reading.reason
    assert entropy_rank(reading) is reading


@pytest.mark.parametrize("decompose", [singular_values, eigenvalues_of_gram])
def test_shapes_that_hold_no_matrix(decompose):
    assert refused(decompose(torch.zeros(3))) is Status.FAILED
    assert refused(decompose(torch.zeros(0, 0))) is Status.N_TOO_SMALL
    assert refused(decompose(torch.zeros(2, 2, dtype=torch.complex64))) is Status.FAILED


def test_a_matrix_that_is_no_gram_is_refused():
    assert refused(eigenvalues_of_gram(torch.zeros(2, 3))) is Status.FAILED
    assert "transpose" in eigenvalues_of_gram(torch.tensor([[1.0, 0.5], [0.0, 1.0]])).reason
    assert "eigenvalue" in eigenvalues_of_gram(torch.diag(torch.tensor([1.0, -0.1]))).reason
    assert "eigenvalue" in eigenvalues_of_gram(-torch.eye(2)).reason


@pytest.mark.parametrize("rank", [entropy_rank, stable_rank_of, participation_of])
def test_spectra_that_have_no_rank(rank):
    assert refused(rank(singular_values(torch.zeros(3, 3)))) is Status.ZERO_WEIGHT
    assert refused(rank(torch.tensor([]))) is Status.N_TOO_SMALL
    assert refused(rank(torch.tensor([1.0, math.nan]))) is Status.NONFINITE
    assert refused(rank(torch.tensor([1.0, -1.0]))) is Status.FAILED
    assert refused(rank(torch.ones(2, 2))) is Status.FAILED


def fail(error):
    def driver(*_, **__):
        raise error

    return driver


def test_a_second_driver_answers_when_the_first_does_not_converge(monkeypatch):
    matrix = gaussian(9, 5)
    gram = matrix.mT @ matrix
    expected = singular_values(matrix), eigenvalues_of_gram(gram)
    monkeypatch.setattr(torch.linalg, "svdvals", fail(torch.linalg.LinAlgError("did not converge")))
    monkeypatch.setattr(torch.linalg, "eigvalsh", fail(torch.linalg.LinAlgError("did not converge")))
    torch.testing.assert_close(singular_values(matrix), expected[0])
    torch.testing.assert_close(eigenvalues_of_gram(gram), expected[1])


def test_unconverged_is_a_status(monkeypatch):
    monkeypatch.setattr(torch.linalg, "svdvals", fail(torch.linalg.LinAlgError("did not converge")))
    monkeypatch.setattr(torch.linalg, "eigvalsh", fail(torch.linalg.LinAlgError("did not converge")))
    monkeypatch.setattr(scipy.linalg, "svd", fail(np.linalg.LinAlgError("nor this")))
    monkeypatch.setattr(scipy.linalg, "eigh", fail(np.linalg.LinAlgError("nor this")))
    assert refused(singular_values(torch.eye(3))) is Status.UNCONVERGED
    assert refused(eigenvalues_of_gram(torch.eye(3))) is Status.UNCONVERGED


def test_factors_are_the_matrix_in_parts(monkeypatch):
    matrix = gaussian(9, 5)
    found = factors(matrix)
    torch.testing.assert_close(found.left * found.values @ found.right, matrix)
    torch.testing.assert_close(found.values, singular_values(matrix))
    monkeypatch.setattr(torch.linalg, "svd", fail(torch.linalg.LinAlgError("did not converge")))
    again = factors(matrix)
    torch.testing.assert_close(again.left * again.values @ again.right, matrix)
    monkeypatch.setattr(scipy.linalg, "svd", fail(np.linalg.LinAlgError("nor this")))
    assert refused(factors(matrix)) is Status.UNCONVERGED


def test_f72_nan_is_named_before_anything_is_decomposed(monkeypatch):
    for name in ("svd", "svdvals", "eigvalsh"):
        monkeypatch.setattr(torch.linalg, name, fail(AssertionError("a decomposition was tried")))
    matrix = torch.eye(4)
    matrix[2, 1] = math.nan
    for decompose in (singular_values, factors, eigenvalues_of_gram):
        reading = decompose(matrix)
        assert refused(reading) is Status.NONFINITE
        assert "(2, 1)" in reading.reason


def test_f73_the_second_driver_sees_the_matrix_as_it_is(monkeypatch):
    """Nothing is added to it to get past the first driver's failure."""
    matrix, seen = gaussian(6, 4), []
    svd = scipy.linalg.svd

    def watched(values, **how):
        seen.append(values.copy())
        return svd(values, **how)

    monkeypatch.setattr(torch.linalg, "svdvals", fail(torch.linalg.LinAlgError("did not converge")))
    monkeypatch.setattr(torch.linalg, "svd", fail(torch.linalg.LinAlgError("did not converge")))
    monkeypatch.setattr(scipy.linalg, "svd", watched)
    singular_values(matrix.float())
    factors(matrix.float())
    assert all(np.array_equal(values, matrix.float().double().numpy()) for values in seen)
    assert len(seen) == 2


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_f74_half_precision_is_computed_in_float64(dtype):
    matrix = gaussian(7, 5).to(dtype)
    for decompose in (singular_values, lambda m: factors(m).values, lambda m: factors(m).left):
        assert torch.equal(decompose(matrix), decompose(matrix.double()))
        assert decompose(matrix).dtype == torch.float64


def test_rankme_of_orthonormal_columns_and_of_one_direction():
    assert rankme_of(singular_values(torch.eye(100, 20))).value == pytest.approx(20, rel=1e-4)
    assert rankme_of(torch.tensor([3.0] + [0.0] * 99)).value == pytest.approx(1, abs=1e-3)
    sigma = singular_values(gaussian(300, 20)).numpy()
    share = sigma / sigma.sum() + 1e-7
    assert rankme_of(torch.from_numpy(sigma)).value == pytest.approx(np.exp(-(share * np.log(share)).sum()))
    assert refused(rankme_of(torch.zeros(4))) is Status.ZERO_WEIGHT

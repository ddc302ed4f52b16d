"""ACT-06."""

import math

import pytest
import torch


def with_variances(eigenvalues, gaussian, sequences=20, seed=0):
    """20 sequences of 50 tokens whose vectors behind position 0 have exactly these variances."""
    n, width = sequences * 50, len(eigenvalues)
    white = gaussian(n, width, seed=seed).double()
    white = torch.linalg.qr(white - white.mean(0)).Q * (torch.as_tensor(eigenvalues) * (n - 1)).sqrt()
    turn = torch.linalg.qr(gaussian(width, width, seed=seed + 5).double()).Q
    vectors = (white @ turn).float().view(sequences, 50, width) + 3
    return torch.cat([1e3 * gaussian(sequences, 1, width, seed=seed + 9), vectors], 1)


def test_equal_variances_and_one_direction(read, gaussian):
    flat = read("spectral_entropy", "residual", with_variances(torch.ones(12), gaussian))
    assert flat[""][0]["value"] == pytest.approx(math.log(12), abs=1e-5)
    assert flat["dispersion"][0]["value"] == pytest.approx(1, abs=1e-6)
    assert flat["early_enrichment"][0]["value"] == pytest.approx(0, abs=1e-3)
    spike = read("spectral_entropy", "residual", with_variances(torch.eye(12)[0], gaussian))
    assert spike[""][0]["value"] == pytest.approx(0, abs=1e-5)
    assert spike["early_enrichment"][0]["value"] == pytest.approx(11 / 12, abs=1e-5)
    assert set(flat) == {"", "dispersion", "early_enrichment"}
    assert flat[""][0]["n"] == 1000


def test_neurons_before_and_after_and_how_far_their_spectra_are(read, gaussian):
    shares = torch.tensor([8.0, 4, 2, 1, 1]), torch.tensor([4.0, 4, 4, 2, 2])
    before, after = (with_variances(one, gaussian, seed=k) for k, one in enumerate(shares))
    rows = read("spectral_entropy", "mlp_activation", after, beside={"mlp_preactivation": before})
    p, q = (one.double() / 16 for one in shares)
    for name, share in (("preactivation", p), ("activation", q)):
        entropy = -float((share * share.log()).sum())
        assert rows[name][0]["value"] == pytest.approx(entropy, abs=1e-5)
        assert rows[f"{name}_dispersion"][0]["value"] == pytest.approx(entropy / math.log(5), abs=1e-5)
        even = torch.arange(1, 6) / 5
        assert rows[f"{name}_early_enrichment"][0]["value"] == pytest.approx(
            float(0.4 * (share.cumsum(0) - even).sum()), abs=1e-5
        )
    middle = (p + q) / 2
    divergence = float((p * (p / middle).log() + q * (q / middle).log()).sum() / 2)
    assert rows["divergence"][0]["value"] == pytest.approx(divergence, abs=1e-5)
    assert rows["divergence"][0]["n"] == 1000


def test_white_neurons_read_less_by_half_their_number_over_that_of_tokens(read, gaussian):
    width, neurons = 200, gaussian(16, 51, 200)
    rows = read("spectral_entropy", "mlp_activation", neurons, beside={"mlp_preactivation": neurons})
    assert rows["activation"][0]["value"] == pytest.approx(math.log(width) - width / 1600, abs=0.01)
    assert rows["divergence"][0]["value"] == pytest.approx(0, abs=1e-12)


def test_scale_rotation_and_mean_change_nothing(value, gaussian):
    stream = gaussian(20, 51, 12) * torch.arange(1.0, 13)
    turn = torch.linalg.qr(gaussian(12, 12, seed=1)).Q
    plain = value("spectral_entropy", "residual", stream)
    assert value("spectral_entropy", "residual", 1e-3 * stream @ turn + 2) == pytest.approx(plain, rel=1e-4)


def test_fewer_tokens_than_neurons_say_so_and_as_many_do(read, gaussian):
    for sequences, expected in ((5, "n-too-small"), (6, "ok")):
        neurons = gaussian(sequences, 6, 30)
        rows = read("spectral_entropy", "mlp_activation", neurons, beside={"mlp_preactivation": neurons})
        for name in ("preactivation", "activation", "divergence"):
            assert rows[name][0]["status"] == expected
        assert read("spectral_entropy", "residual", neurons)[""][0]["status"] == expected


def test_layers_wider_than_the_sample_serves_say_so(read):
    neurons = torch.randn(30, 120, 3100, generator=torch.Generator().manual_seed(0))
    rows = read("spectral_entropy", "mlp_activation", neurons, beside={"mlp_preactivation": neurons})
    assert rows["activation"][0]["status"] == "n-too-small"
    assert "1280 tokens of 3100" in rows["activation"][0]["reason"]


def test_one_side_may_be_undefined(read, gaussian):
    before = gaussian(20, 51, 12)
    rows = read(
        "spectral_entropy", "mlp_activation", torch.zeros_like(before), beside={"mlp_preactivation": before}
    )
    assert rows["preactivation"][0]["status"] == "ok"
    assert rows["activation"][0]["status"] == rows["divergence"][0]["status"] == "constant-input"


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (torch.ones(20, 51, 5), "constant-input"),
        (torch.full((20, 51, 5), torch.nan), "nonfinite"),
        (torch.ones(20, 1, 5), "n-too-small"),
    ],
)
def test_what_has_no_spectrum_says_why(status, stream, expected):
    assert status("spectral_entropy", "residual", stream) == expected


def test_one_feature_has_nothing_to_spread_over(read, gaussian):
    rows = read("spectral_entropy", "residual", gaussian(20, 51, 1))
    assert rows[""][0]["value"] == 0
    assert rows["dispersion"][0]["status"] == "n-too-small"

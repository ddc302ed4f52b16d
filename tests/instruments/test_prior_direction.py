"""TOK-04, its fit."""

import pytest
import torch

from ontogeny.instruments.prior_direction import log_prior, prior_direction
from ontogeny.numerics.token_ends import TokenEnds
from ontogeny.testing import TinyFacts
from ontogeny.vocabulary import Fitted, Status

FACTS = TinyFacts()
PRIOR = log_prior(FACTS.statistics().counts)


def random_weights(width: int = 6, seed: int = 0):
    return torch.randn(40, width, generator=torch.Generator().manual_seed(seed))


def fitted(unembedding, gain=None) -> Fitted:
    found = prior_direction(TokenEnds(torch.zeros(40, unembedding.shape[1]), unembedding, gain), FACTS)
    assert isinstance(found, Fitted)
    return found


def r2(found: Fitted) -> float:
    return float(found.quality[""].value)


def test_the_prior_is_a_distribution_that_no_token_is_missing_from():
    assert float(PRIOR.exp().sum()) == pytest.approx(1)
    assert PRIOR.isfinite().all()


def test_a_column_that_is_the_prior_is_found():
    weights = 0.01 * random_weights()
    weights[:, 2] = 3 * PRIOR.float() + 5
    found = fitted(weights)
    assert r2(found) == pytest.approx(1, abs=1e-5)
    direction = found.artefact["direction"]
    assert int(direction.abs().argmax()) == 2
    assert float(direction[2]) == pytest.approx(1 / 3, rel=5e-3)  # the ridge is a thousandth of the mean
    assert float(found.quality["norm"].value) == pytest.approx(float(direction.norm()))


def test_random_weights_show_little_and_as_many_features_as_tokens_everything():
    scores = [r2(fitted(random_weights(4, seed))) for seed in range(20)]
    assert 0 < sum(scores) / 20 < 0.25  # 4 features of 39 by chance
    assert r2(fitted(random_weights(48))) > 0.99


def test_scale_offset_and_rotation_of_the_weights_change_nothing():
    weights = random_weights()
    plain = r2(fitted(weights))
    rotation, _ = torch.linalg.qr(torch.randn(6, 6, generator=torch.Generator().manual_seed(3)))
    for other in (1e-20 * weights, 1e20 * weights, weights + torch.randn(6), weights @ rotation):
        assert r2(fitted(other)) == pytest.approx(plain, rel=1e-4)


def test_the_norms_gain_is_folded_in():
    weights, gain = random_weights(), torch.linspace(0.5, 2, 6)
    folded, given = fitted(weights * gain), fitted(weights, gain)
    assert torch.allclose(folded.artefact["direction"], given.artefact["direction"], atol=1e-6)
    assert torch.allclose(folded.artefact["reader"] / gain, given.artefact["reader"], atol=1e-6)


def test_a_channel_without_gain_reads_nothing():
    gain = torch.tensor([1.0, 0, 1, 1, 1, 1])
    found = fitted(random_weights(), gain)
    assert found.artefact["reader"][1] == 0
    assert found.artefact["reader"].isfinite().all()


def test_what_cannot_be_fitted_says_why():
    class Equal(TinyFacts):
        def __init__(self, counts):
            self.counts = counts

        def statistics(self):
            return self if self.counts is not None else None

    def status(weights, facts):
        return prior_direction(TokenEnds(weights, weights), facts).status

    weights = random_weights()
    assert status(weights, Equal(None)) is Status.NOT_OBSERVABLE
    assert status(weights[:30], FACTS) is Status.NOT_OBSERVABLE
    assert status(weights, Equal(torch.full((40,), 9).numpy())) is Status.CONSTANT_INPUT
    assert status(torch.ones(40, 6), FACTS) is Status.ZERO_WEIGHT
    assert status(weights * torch.nan, FACTS) is Status.NONFINITE

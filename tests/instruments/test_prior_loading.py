"""TOK-04."""

import math

import pytest
import torch

from ontogeny.catalogue import measuring_part
from ontogeny.evidence.residual_sample import chosen_positions
from ontogeny.instruments.prior_direction import log_prior, prior_direction
from ontogeny.instruments.prior_loading import prior_loading
from ontogeny.numerics.token_ends import TokenEnds
from ontogeny.testing import TinyFacts, measured_on, tiny_stimulus, tiny_subject
from ontogeny.vocabulary import Status

FACTS, STIMULUS = TinyFacts(), tiny_stimulus("heldout")
PRIOR = log_prior(FACTS.statistics().counts).float()
COUNT = len(chosen_positions(*STIMULUS.shape))


def ends_of(gain=None, seed: int = 0) -> TokenEnds:
    """An unembedding of 8 channels, the first of which is the prior."""
    weights = torch.randn(40, 8, generator=torch.Generator().manual_seed(seed))
    weights[:, 0] = PRIOR
    return TokenEnds(torch.zeros(40, 8), weights, gain)


def read(states, ends):
    fitted = prior_direction(ends, FACTS).artefact
    return prior_loading(states.expand(COUNT, -1), ends, fitted, FACTS, STIMULUS), fitted


def number(found, name="") -> float:
    return float(found[name].value)


def test_states_along_the_direction_read_their_share_of_it():
    ends = ends_of()
    direction = prior_direction(ends, FACTS).artefact["direction"].float()
    for share in (0.0, 0.5, 1.0, 2.0):
        found, _ = read(share * direction, ends)
        assert number(found) == pytest.approx(share, abs=1e-6)
        assert number(found, "deviation") == pytest.approx(0, abs=1e-6)


def test_states_across_it_read_nothing():
    ends = ends_of()
    direction = prior_direction(ends, FACTS).artefact["direction"].float()
    across = torch.randn(COUNT, 8, generator=torch.Generator().manual_seed(1))
    across -= (across @ direction)[:, None] * direction / direction.square().sum()
    found, _ = read(across, ends)
    assert number(found) == pytest.approx(0, abs=1e-6)
    assert number(found, "divergence_without") == pytest.approx(number(found, "divergence_twice"), abs=1e-4)


def test_one_state_trained_for_all_tokens_ends_at_one():
    ends = ends_of()
    state = torch.zeros(8, requires_grad=True)
    optimizer = torch.optim.LBFGS([state], max_iter=300, tolerance_grad=1e-9)

    def loss():
        optimizer.zero_grad()
        value = -(PRIOR.exp() * (ends.unembedding @ state).log_softmax(0)).sum()
        value.backward()
        return value

    optimizer.step(loss)
    found, _ = read(state.detach(), ends)
    assert number(found) == pytest.approx(1, abs=0.01)
    assert number(found, "divergence_as_is") == pytest.approx(0, abs=1e-4)
    uniform = -math.log(40) - float(PRIOR.mean())
    assert number(found, "divergence_without") == pytest.approx(uniform, rel=0.02)
    assert number(found, "divergence_half") > 0.01
    assert number(found, "divergence_twice") > 0.01


def test_the_loading_splits_the_logits_exactly():
    gain = torch.linspace(0.5, 2, 8)
    ends = ends_of(gain)
    states = gain * torch.randn(COUNT, 8, generator=torch.Generator().manual_seed(2))
    found, fitted = read(states, ends)
    inner, direction = states / gain, fitted["direction"].float()
    loading = inner @ direction / direction.square().sum()
    assert number(found) == pytest.approx(float(loading.mean()), abs=1e-5)
    folded = ends.unembedding * gain
    prior_part = loading[:, None] * (folded @ direction)
    rest = (inner - loading[:, None] * direction) @ folded.T
    assert torch.allclose(prior_part + rest, states @ ends.unembedding.T, atol=1e-4)
    chosen = torch.arange(128) * COUNT // 128
    without = rest[chosen].log_softmax(-1)
    divergence = (without.exp() * (without - PRIOR)).sum(-1).mean()
    assert number(found, "divergence_without") == pytest.approx(float(divergence), rel=1e-4)


def test_loading_that_falls_along_the_row_is_seen_to():
    ends = ends_of()
    direction = prior_direction(ends, FACTS).artefact["direction"].float()
    position = chosen_positions(*STIMULUS.shape) % STIMULUS.shape[1]
    found, _ = read((1 - position / 40.0)[:, None] * direction, ends)
    assert number(found, "with_position") == pytest.approx(-1)
    quarters = [number(found, f"quarter_{n}") for n in range(1, 5)]
    assert quarters == sorted(quarters, reverse=True)
    assert number(found, "with_surprisal") == pytest.approx(0, abs=0.15)


def test_a_plain_model_is_read_beside_its_null():
    rows = {
        row["component"]: row for row in measured_on(tiny_subject(), measuring_part("prior_loading")).rows
    }
    assert {row["status"] for row in rows.values()} == {"ok"}
    assert rows["null:random_direction"]["n"] == 100
    assert rows[""]["fit"].startswith("prior_direction")


def test_broken_and_few_states_say_why():
    ends = ends_of()
    fitted = prior_direction(ends, FACTS).artefact
    broken = prior_loading(torch.full((COUNT, 8), torch.nan), ends, fitted, FACTS, STIMULUS)
    assert broken[""].status is Status.NONFINITE
    few = prior_loading(torch.zeros(0, 8), ends, fitted, FACTS, STIMULUS)
    assert few[""].status is Status.N_TOO_SMALL

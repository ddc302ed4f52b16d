"""HEA-03, on the stimulus it is read on."""

import pytest
import torch

from ontogeny.catalogue import part
from ontogeny.testing import TinyFacts
from ontogeny.vocabulary import Aim, Stimulus


@pytest.fixture
def repeated() -> Stimulus:
    return part("stimulus", "repeated_tokens").make(TinyFacts())


def own_lags(stimulus: Stimulus, aim: str) -> torch.Tensor:
    return stimulus.aims[aim].lags[stimulus.aims[aim].own]


def fixed_lag(lag: int, sequences: int = 5) -> Stimulus:
    """A beginning token, then a block of `lag` tokens twice; the false template is a little shorter."""
    length = 1 + 2 * lag
    queries = torch.zeros(2, length, dtype=torch.bool)
    queries[:, 1 + lag :] = True
    own = torch.zeros(sequences, dtype=torch.long)
    aim = Aim(torch.tensor([lag, lag - 4]), queries, own, torch.ones(19, sequences, dtype=torch.long))
    tokens = torch.zeros(sequences, length, dtype=torch.long)
    return Stimulus("repeated_tokens", tokens, torch.zeros(tokens.shape), {"duplicate": aim})


def test_a_head_that_looks_at_the_same_token_is_one(read, looking, repeated):
    aim = repeated.aims["duplicate"]
    rows = read(
        "duplicate_token", "attention", looking(own_lags(repeated, "duplicate"), repeated.shape[1]), repeated
    )
    assert rows[""][0]["value"] == pytest.approx(1, abs=1e-12)
    assert rows[""][0]["n"] == int(aim.queries[aim.own].sum())
    assert rows["null:shuffled_lag"][0]["value"] < 0.4, "most wrong aims are not where it looks"


def test_a_pure_sink_is_zero_though_the_first_duplicate_is_key_0(read, looking, repeated):
    length = repeated.shape[1]
    rows = read("duplicate_token", "attention", looking(torch.full((64,), length), length), repeated)
    assert rows[""][0]["value"] == 0


def test_uniform_attention_at_lag_50_behind_a_beginning_token(read, uniform):
    rows = read("duplicate_token", "attention", uniform(5, 2, 101), fixed_lag(50))
    assert [row["value"] for row in rows[""]] == pytest.approx([0.0136] * 2, abs=5e-5)
    assert rows["null:shuffled_lag"][0]["value"] == pytest.approx(0.0136, abs=5e-5)


@pytest.mark.parametrize("habit", [12, 15, 18])
def test_a_positional_habit_reads_exactly_as_its_null(read, looking, repeated, habit):
    rows = read(
        "duplicate_token", "attention", looking(torch.full((64,), habit), repeated.shape[1]), repeated
    )
    assert 0 < rows[""][0]["value"] < 0.4
    assert rows["null:shuffled_lag"][0]["value"] == pytest.approx(rows[""][0]["value"], abs=1e-6)


def test_induction_is_not_duplicate_attention(read, looking, repeated):
    looked = looking(own_lags(repeated, "successor"), repeated.shape[1])
    assert read("duplicate_token", "attention", looked, repeated)[""][0]["value"] == 0


def test_no_aim_and_broken_patterns_say_why(status, uniform, repeated):
    assert status("duplicate_token", "attention", uniform(4, 2, 32)) == "no-target"
    broken = uniform(64, 1, repeated.shape[1]) * torch.nan
    assert status("duplicate_token", "attention", broken, repeated) == "nonfinite"

"""HEA-02, on the stimulus it is read on."""

import pytest
import torch

from ontogeny.catalogue import part
from ontogeny.testing import TinyFacts
from ontogeny.vocabulary import Aim, Stimulus


@pytest.fixture
def repeated() -> Stimulus:
    return part("stimulus", "repeated_tokens").make(TinyFacts())


def fixed_lag(lag: int, sequences: int = 5) -> Stimulus:
    """A beginning token, then a block of `lag` tokens twice."""
    length = 1 + 2 * lag
    queries = torch.zeros(sequences, length, dtype=torch.bool)
    queries[:, 1 + lag :] = True
    lags = torch.full((sequences,), lag - 1)
    shuffled = torch.randint(12, lag - 2, (19, sequences), generator=torch.Generator().manual_seed(0))
    tokens = torch.zeros(sequences, length, dtype=torch.long)
    return Stimulus(
        "repeated_tokens", tokens, torch.zeros(tokens.shape), {"successor": Aim(lags, queries, shuffled)}
    )


def test_a_perfect_induction_head_is_one(read, looking, repeated):
    lags = repeated.aims["successor"].lags
    rows = read("induction", "attention", looking(lags, repeated.shape[1]), repeated)
    assert rows[""][0]["value"] == pytest.approx(1, abs=1e-12)
    assert rows[""][0]["n"] == int(repeated.aims["successor"].queries.sum())
    assert rows["null:shuffled_lag"][0]["value"] < 0.4, "most wrong aims are not where it looks"


def test_a_pure_sink_is_zero(read, looking, repeated):
    length = repeated.shape[1]
    rows = read("induction", "attention", looking(torch.full((64,), length), length), repeated)
    assert rows[""][0]["value"] == 0
    assert rows["null:shuffled_lag"][0]["value"] < 0.05


def test_uniform_attention_at_lag_50_behind_a_beginning_token(read, uniform):
    rows = read("induction", "attention", uniform(5, 2, 101), fixed_lag(50))
    assert [row["value"] for row in rows[""]] == pytest.approx([0.0136] * 2, abs=5e-5)
    assert rows["null:shuffled_lag"][0]["value"] == pytest.approx(0.0136, abs=5e-5)


def test_a_positional_habit_at_one_lag_does_not_pass(read, looking, repeated):
    habit = torch.full((64,), int(repeated.aims["successor"].lags.median()))
    rows = read("induction", "attention", looking(habit, repeated.shape[1]), repeated)
    assert rows[""][0]["value"] < 0.4
    assert rows["null:shuffled_lag"][0]["value"] > rows[""][0]["value"]


def test_duplicate_attention_is_not_induction(read, looking, repeated):
    lags = repeated.aims["duplicate"].lags
    assert read("induction", "attention", looking(lags, repeated.shape[1]), repeated)[""][0]["value"] == 0


def test_no_aim_and_broken_patterns_say_why(status, uniform, repeated):
    assert status("induction", "attention", uniform(4, 2, 32)) == "no-target"
    assert (
        status("induction", "attention", uniform(64, 1, repeated.shape[1]) * torch.nan, repeated)
        == "nonfinite"
    )

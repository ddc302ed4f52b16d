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
    """A beginning token, then a block of `lag` tokens twice; the false template is a little shorter."""
    length = 1 + 2 * lag
    lags = torch.tensor([lag - 1, lag - 4])
    queries = torch.zeros(2, length, dtype=torch.bool)
    queries[:, 1 + lag :] = True
    own = torch.zeros(sequences, dtype=torch.long)
    aim = Aim(lags, queries, own, torch.ones(19, sequences, dtype=torch.long))
    tokens = torch.zeros(sequences, length, dtype=torch.long)
    return Stimulus("repeated_tokens", tokens, torch.zeros(tokens.shape), {"successor": aim})


def own_lags(stimulus: Stimulus, aim: str = "successor") -> torch.Tensor:
    return stimulus.aims[aim].lags[stimulus.aims[aim].own]


def test_a_perfect_induction_head_is_one(read, looking, repeated):
    aim = repeated.aims["successor"]
    rows = read("induction", "attention", looking(own_lags(repeated), repeated.shape[1]), repeated)
    assert rows[""][0]["value"] == pytest.approx(1, abs=1e-12)
    assert rows[""][0]["n"] == int(aim.queries[aim.own].sum())
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


@pytest.mark.parametrize("habit", [11, 14, 18])
def test_a_positional_habit_reads_exactly_as_its_null(read, looking, repeated, habit):
    """True and false templates have the same lags and queries: only content can tell them apart."""
    lags = torch.full((64,), habit)
    rows = read("induction", "attention", looking(lags, repeated.shape[1]), repeated)
    drawn = rows["null:shuffled_lag"][0]["value"]
    assert 0 < rows[""][0]["value"] < 0.4
    assert drawn == pytest.approx(rows[""][0]["value"], abs=1e-6)


def test_duplicate_attention_is_not_induction(read, looking, repeated):
    looked = looking(own_lags(repeated, "duplicate"), repeated.shape[1])
    assert read("induction", "attention", looked, repeated)[""][0]["value"] == 0


def test_no_aim_and_broken_patterns_say_why(status, uniform, repeated):
    assert status("induction", "attention", uniform(4, 2, 32)) == "no-target"
    assert (
        status("induction", "attention", uniform(64, 1, repeated.shape[1]) * torch.nan, repeated)
        == "nonfinite"
    )

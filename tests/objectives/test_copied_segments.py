"""One segment comes twice in a row, everything else is uniform, and the control has one lag."""

import inspect
import time

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ontogeny.catalogue import DataFacts, Objective
from ontogeny.errors import BadRecipe
from ontogeny.objectives import copied_segments
from ontogeny.vocabulary import Streams, TrainingState

CONTROL = {"shortest": 32, "longest": 32, "start": "zero", "loss_on": "repeats"}


class Told(torch.nn.Module):
    """A model that is one function of the tokens."""

    def __init__(self, logits_of):
        super().__init__()
        self.logits_of = logits_of

    def forward(self, tokens):
        return self.logits_of(tokens)


def drawn(objective, step=0, seed=0):
    draw = objective.draw(step, Streams(seed).generator("data", step))
    return draw, objective.batch(draw, TrainingState(), torch.Generator())


def test_it_keeps_the_contracts():
    objective = copied_segments()
    assert isinstance(objective, Objective)
    assert isinstance(objective.facts(), DataFacts)
    assert objective.facts().token_counts() is None
    assert objective.facts().text(torch.tensor([5, 0])) == "5 0"


@given(
    st.integers(0, 1 << 30),
    st.integers(1, 12),
    st.integers(0, 12),
    st.integers(0, 30),
    st.sampled_from(["random", "zero"]),
)
def test_the_segment_is_copied_right_after_itself(seed, shortest, more, room, start):
    longest = shortest + more
    context = 2 * longest + room
    objective = copied_segments(
        context=context, batch=9, shortest=shortest, longest=longest, start=start, loss_on="repeats"
    )
    draw, batch = drawn(objective, seed=seed)
    assert batch["tokens"].shape == (9, context)
    assert batch["weights"].shape == (9, context - 1)
    for items, weights in zip(draw.items, batch["weights"], strict=True):
        tokens, first, length = items[:-2], int(items[-2]), int(items[-1])
        assert shortest <= length <= longest
        assert first == 0 if start == "zero" else 0 <= first <= context - 2 * length
        segment = tokens[first : first + length]
        assert torch.equal(segment, tokens[first + length : first + 2 * length])
        targets = weights.nonzero().flatten() + 1
        assert targets.tolist() == list(range(first + length + 1, first + 2 * length))


def test_places_lengths_and_tokens_are_uniform():
    draw, _ = drawn(copied_segments(batch=40_000, shortest=8, longest=32))
    items = draw.items
    for counts in (
        torch.bincount(items[:, -1])[8:],
        torch.bincount(items[items[:, -1] == 20][:, -2]),
        torch.bincount(items[:, 0]),
        torch.bincount(items[:, 63]),
    ):
        expected = counts.sum() / len(counts)
        assert ((counts - expected).abs() < 5 * expected.sqrt()).all()
    assert len(torch.bincount(items[items[:, -1] == 20][:, -2])) == 64 - 40 + 1


def test_the_best_possible_loss_is_zero_where_given_away():
    objective = copied_segments(batch=16, loss_on="repeats")
    draw, batch = drawn(objective)
    lag = draw.items[:, -1:]

    def looks_back(tokens):
        """Puts everything on the token after the one a lag ago."""
        place = (torch.arange(tokens.shape[1]) - lag + 1).clamp_min(0)
        return torch.nn.functional.one_hot(tokens.gather(1, place), 64) * 1e4

    assert objective.loss(Told(looks_back), batch).mean() == 0
    everywhere = copied_segments(batch=16)
    weights = everywhere.batch(draw, TrainingState(), torch.Generator())["weights"]
    assert weights.sum() == 16 * 63


def test_the_control_has_one_lag_and_says_so():
    control = copied_segments(**CONTROL)
    assert control.facts().fixed_lags() == {32}
    assert copied_segments().facts().fixed_lags() == frozenset()
    _, batch = drawn(control)
    assert torch.equal(batch["tokens"][:, :32], batch["tokens"][:, 32:])
    assert batch["weights"].sum(1).tolist() == [31] * 32


def test_a_segment_of_one_token_gives_nothing_away():
    objective = copied_segments(shortest=1, longest=1, loss_on="repeats")
    _, batch = drawn(objective)
    losses = objective.loss(Told(lambda tokens: torch.zeros(*tokens.shape, 64)), batch)
    assert losses.total_weight == 0
    assert losses.values.isfinite().all()


def test_held_out_rows_are_the_same_each_time_and_none_of_training_s():
    objective = copied_segments(loss_on="repeats")
    tokens, weights = objective.heldout(200, 64)
    assert tokens.shape == weights.shape == (200, 64)
    assert torch.equal(tokens, objective.heldout(200, 64)[0])
    assert weights[:, -1].sum() == 0
    assert 7 <= weights.sum(1).min() <= weights.sum(1).max() <= 31
    trained = torch.cat([drawn(objective, step)[1]["tokens"] for step in range(50)])
    assert not (tokens[:, None, :8] == trained[None, :, :8]).all(-1).any()
    assert objective.heldout(4, 20)[0].shape == (4, 20)
    assert objective.heldout(4, 15) is None


def test_a_draw_of_32_rows_takes_less_than_a_millisecond():
    torch.set_num_threads(1)
    objective, rng = copied_segments(), torch.Generator()
    times = []
    for step in range(300):
        start = time.perf_counter()
        objective.batch(objective.draw(step, rng), TrainingState(), rng)
        times.append(time.perf_counter() - start)
    assert min(times) < 1e-3


@pytest.mark.parametrize(
    "wrong",
    [
        {"longest": 33},
        {"shortest": 20, "longest": 10},
        {"context": 0},
        {"start": "end"},
        {"loss_on": "none"},
        {"vocabulary": 2.5},
    ],
)
def test_what_cannot_be_is_refused(wrong):
    # Tests check annotated types as well; a user's call meets the part's own checks only.
    unchecked = inspect.unwrap(copied_segments.__init__)
    with pytest.raises(BadRecipe, match=r"objective\."):
        unchecked(object.__new__(copied_segments), **wrong)

"""The first rows of the untouched draw, fewer of them or with further ones behind."""

import pytest
import torch

from ontogeny.errors import BadContract
from ontogeny.interventions import batch_size
from ontogeny.testing import tiny_training
from ontogeny.vocabulary import Streams, Window


def drawn(training, run, steps=1):
    """The rows of every draw as the batch saw them, and the steps."""
    rows = []
    batch = training.objective.batch

    def keep(draw, state, rng):
        rows.append(draw.items)
        return batch(draw, state, rng)

    training.objective.batch = keep
    return rows, run(training, steps)


def test_a_share_below_one_keeps_the_first_rows(run):
    rows, found = drawn(tiny_training([batch_size(share=0.5)]), run)
    plain, _ = drawn(tiny_training(), run)
    assert torch.equal(rows[0], plain[0][:2])
    assert (found[0].samples, found[0].tokens) == (2, 24)


@pytest.mark.parametrize(("share", "count"), [(1.0, 4), (1.5, 6), (3.0, 12), (0.01, 1)])
def test_further_rows_come_behind_the_untouched_ones(share, count, run):
    rows, found = drawn(tiny_training([batch_size(share=share)]), run)
    plain, _ = drawn(tiny_training(), run)
    assert len(rows[0]) == found[0].samples == count
    assert torch.equal(rows[0][:4], plain[0][:count])
    assert len(rows[0].unique()) == count, "further rows are new ones"


def test_further_rows_are_of_the_data_stream_under_another_place(run):
    training = tiny_training([batch_size(share=2.0)], training={"accumulation": 2})
    rows, _ = drawn(training, run)
    for micro, seen in enumerate(rows):
        for part, place in ((seen[:4], f"{micro}"), (seen[4:], f"{micro}/more1")):
            rng = Streams(0).generator("data", 0, place)
            assert torch.equal(part, training.objective.draw(0, rng).items)


def test_outside_the_window_the_draws_are_the_untouched_ones(run):
    made = batch_size(share=0.5)
    made.window = Window(1, 3)
    rows, _ = drawn(tiny_training([made]), run, 5)
    plain, _ = drawn(tiny_training(), run, 5)
    assert [len(seen) for seen in rows] == [4, 2, 2, 4, 4]
    assert all(torch.equal(a, b[: len(a)]) for a, b in zip(rows, plain, strict=True))


def test_the_gradient_s_variance_falls_with_the_share():
    """Independent draws of a step, whole and a quarter: the mean of 4n rows varies by 1/4 of that of n."""

    def spread(share):
        gradients = []
        for seed in range(60):
            made = batch_size(share=share)
            training = tiny_training([made], optimizer={"lr": 0.0})
            training.streams = Streams(seed)
            training.step()
            gradients.append(training.model.final_norm.weight.grad.clone())
        return float(torch.stack(gradients).var(0).sum())

    assert spread(0.25) / spread(1.0) == pytest.approx(4, rel=0.5)


def test_an_empty_batch_is_refused():
    with pytest.raises(BadContract, match="share above 0"):
        batch_size(share=0)

"""What stands and what was replaced, over steps, tokens and time."""

import math

import numpy as np
import pytest

from dashboard_runs import losses, made
from ontogeny.dashboard.attempts import Attempt, Memory
from ontogeny.dashboard.strands import AXES, seconds_at, strands
from ontogeny.errors import UnknownName


def attempts_of(run) -> list[Attempt]:
    memory = Memory()
    found = [Attempt(path, memory) for path in run.journals]
    for one in found:
        one.look()
    return found


@pytest.fixture
def resumed(tmp_path):
    """Twice resumed: at 5 after 8 steps, and at 9 after 12; a step carries tokens, some an evaluation."""

    def records(first, last, shift):
        found = []
        for step in range(first, last + 1):
            found.append((step, {"loss": step + shift, "tokens": 64 * step}))
            if step % 4 == 0:
                found.append((step, {"heldout_loss": step + 100 * shift}))
        return found

    return made(tmp_path, "resumed", records(1, 8, 0.0), records(6, 12, 0.25), records(9, 15, 0.5))


@pytest.mark.parametrize("metric", ["loss", "heldout_loss"])
def test_what_stands_is_what_a_run_reads(resumed, metric):
    """`Run.telemetry` is the rule; here the replaced ones are kept apart beside it."""
    standing, *replaced = strands(attempts_of(resumed), metric, "step")
    told = resumed.telemetry(metric)
    assert standing.x.tolist() == told["step"].tolist()
    assert standing.y.tolist() == told[metric].tolist()
    everything = resumed.telemetry(metric, overlaps=True)
    assert len(everything) == len(standing) + sum(map(len, replaced))
    assert [one.superseded for one in replaced] == [True] * len(replaced)


def test_replaced_steps_stay_with_the_attempt_that_took_them(resumed):
    standing, *replaced = strands(attempts_of(resumed), "loss", "step")
    assert standing.segments == ((0, 1.0, 5.0), (1, 6.0, 8.0), (2, 9.0, 15.0))
    assert [(one.attempt, one.x.tolist(), one.y.tolist()) for one in replaced] == [
        (0, [6, 7, 8], [6.0, 7.0, 8.0]),
        (1, [9, 10, 11, 12], [9.25, 10.25, 11.25, 12.25]),
    ]


def test_tokens_are_those_counted_by_the_step_before(resumed):
    standing, *_ = strands(attempts_of(resumed), "heldout_loss", "tokens")
    assert standing.x.tolist() == [64 * step for step in (4, 8, 12)]


def test_time_is_spent_training_and_never_runs_back(resumed):
    standing, *replaced = strands(attempts_of(resumed), "loss", "time")
    assert (np.diff(standing.x) >= 0).all()
    assert standing.x.min() >= 0
    lengths = [one.seconds[-1] for one in attempts_of(resumed)]
    assert standing.x.max() <= sum(lengths) * AXES["time"] + 1
    assert replaced[0].x.max() <= lengths[0] * AXES["time"] + 1


def test_a_step_was_taken_at_the_second_where_its_line_has_it(resumed):
    attempts = attempts_of(resumed)
    (steps, *_), (times, *_) = (strands(attempts, "loss", axis) for axis in ("step", "time"))
    known = dict(zip(steps.x.tolist(), times.x / AXES["time"], strict=True))
    assert seconds_at(attempts, list(known)) == pytest.approx(list(known.values()), abs=1 / AXES["time"])
    lengths = [one.seconds[-1] for one in attempts]
    before, after = seconds_at(attempts, [5, 6])
    assert before < lengths[0] < after < lengths[0] + lengths[1]
    assert seconds_at(attempts, [0, 16]) == [0.0, None]
    assert seconds_at([], [0]) == [None]


def test_a_step_between_two_records_lies_between_their_seconds(tmp_path):
    (attempt,) = attempts_of(made(tmp_path, "sparse", [(10, {"loss": 1.0}), (20, {"loss": 2.0})]))
    first, last = attempt.seconds
    assert seconds_at([attempt], [10, 15, 20]) == [first, pytest.approx((first + last) / 2), last]


def test_a_run_without_tokens_has_no_such_axis(tmp_path):
    run = made(tmp_path, "plain", losses([3.0, 2.0]))
    with pytest.raises(UnknownName, match="axis"):
        strands(attempts_of(run), "loss", "tokens")
    assert strands(attempts_of(run), "nothing", "step") == []


def test_steps_in_any_order_are_sorted_and_nothing_is_dropped(tmp_path):
    steps = [5, 3, 3, 9, 1]
    run = made(tmp_path, "order", [(step, {"loss": float(i)}) for i, step in enumerate(steps)])
    (standing,) = strands(attempts_of(run), "loss", "step")
    assert standing.x.tolist() == [1, 3, 3, 5, 9]
    assert standing.y.tolist() == [4.0, 1.0, 2.0, 0.0, 3.0]


def test_numbers_of_any_kind_are_numbers_and_texts_are_not(tmp_path):
    values = [1, True, 2.5, math.nan, "text", 2**63]
    run = made(tmp_path, "kinds", [(step, {"loss": value}) for step, value in enumerate(values)])
    (standing,) = strands(attempts_of(run), "loss", "step")
    assert standing.x.tolist() == [0, 1, 2, 3, 5]
    assert standing.y[[0, 1, 2, 4]].tolist() == [1.0, 1.0, 2.5, float(2**63)]
    assert math.isnan(standing.y[3])

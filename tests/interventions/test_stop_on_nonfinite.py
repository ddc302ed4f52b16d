"""So many losses in a row that are no number, and no fewer."""

import math

from ontogeny.interventions import stop_on_nonfinite
from ontogeny.testing import tiny_training


def first_stop(made, losses):
    for step, loss in enumerate(losses):
        made.on_loss(loss, step)
        if made.stop:
            return step
    return None


def test_it_stops_at_the_first_or_the_nth_in_a_row():
    losses = [1.0, math.nan, 2.0, math.inf, -math.inf, math.nan, 1.0]
    assert first_stop(stop_on_nonfinite(), losses) == 1
    assert first_stop(stop_on_nonfinite(patience=2), losses) == 4
    assert first_stop(stop_on_nonfinite(patience=3), losses) == 5
    assert first_stop(stop_on_nonfinite(patience=4), losses) is None
    assert first_stop(stop_on_nonfinite().sham(), losses) is None


def test_a_training_asks_to_stop_with_the_reason(run):
    training = tiny_training([stop_on_nonfinite()], optimizer={"name": "sgd", "lr": 1e30})
    found = run(training, 1)
    while not training.asked_to_stop() and len(found) < 6:
        found += run(training)
    assert training.asked_to_stop() == "the loss is nan: 1 in a row are not finite"
    assert [math.isfinite(step.loss) for step in found] == [True] * (len(found) - 1) + [False]


def test_where_nothing_is_applied_the_loss_is_heard_all_the_same(run):
    training = tiny_training(
        [stop_on_nonfinite()],
        optimizer={"name": "sgd", "lr": 1e30},
        training={"on_nonfinite": "stop"},
    )
    found = run(training, 4)
    assert not found[-1].applied
    assert training.asked_to_stop()

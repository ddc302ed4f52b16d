"""Inside the window it is the Decoder's own dropout; outside, and in everything else, nothing."""

import pytest
import torch

from ontogeny.catalogue import Intervention
from ontogeny.errors import BadContract
from ontogeny.interventions import dropout
from ontogeny.objectives import modular_addition
from ontogeny.record.recipe import Recipe
from ontogeny.record.train import train
from ontogeny.record.training import Training
from ontogeny.testing import tiny_training
from ontogeny.vocabulary import Window
from tiny_recipe import tiny


def test_it_is_what_a_recipe_with_dropout_does(run, weights):
    recipe = tiny_training(model={"dropout": 0.2})
    inside = tiny_training([dropout(rate=0.2)])
    for training in (recipe, inside):
        run(training, 4)
    one, other = weights(recipe), weights(inside)
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_rate_zero_takes_the_recipe_s_dropout_away(run, weights):
    plain, off = tiny_training(), tiny_training([dropout(rate=0.0)], model={"dropout": 0.2})
    for training in (plain, off):
        run(training, 4)
    one, other = weights(plain), weights(off)
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_outside_the_window_the_bits_are_those_of_a_run_without_it(run, weights):
    """Late dropout: equal up to its start. Early dropout: after it, from equal weights, equal again."""
    late, early = dropout(), dropout()
    late.window, early.window = Window(3), Window(0, 2)
    plain, delayed = tiny_training(), tiny_training([late])
    run(plain, 3)
    run(delayed, 3)
    assert all(torch.equal(p, weights(delayed)[name]) for name, p in weights(plain).items())
    ended = tiny_training([early], optimizer={"name": "sgd"})
    run(ended, 2)
    fresh = tiny_training(optimizer={"name": "sgd"})
    fresh.model.load_state_dict(ended.model.state_dict())
    fresh.state["counters"].step = 2
    draws = [[found.draw for found in run(training, 3)] for training in (ended, fresh)]
    assert draws[0] == draws[1]
    assert all(torch.equal(p, weights(ended)[name]) for name, p in weights(fresh).items())


def test_linear_dropout_falls_to_zero_at_the_window_s_end(run):
    made = dropout(rate=0.4, shape="linear", measure=0)
    made.window = Window(2, 6)
    training, seen = tiny_training([made]), []
    training.model.embedding.register_forward_hook(
        lambda *_: seen.append((training.model.config.dropout, training.model.blocks[0].rate))
    )
    run(training, 8)
    falling = [0, 0, 0.4, 0.3, 0.2, 0.1, 0, 0]
    assert [rate for rate, _ in seen] == pytest.approx(falling)
    assert [rate for _, rate in seen] == pytest.approx(falling)
    assert training.model.config.dropout == 0


def test_the_rate_is_put_back_when_the_loss_fails():
    training = tiny_training([dropout(rate=0.4)])

    def fail(model, batch):
        raise ZeroDivisionError

    training.objective.loss = fail
    with pytest.raises(ZeroDivisionError):
        training.step()
    assert training.model.config.dropout == training.model.blocks[1].rate == 0


WITH, WITHOUT = "gradient_direction_error", "gradient_direction_error_without"


def all_pairs(interventions=(), **tables) -> Training:
    """Addition modulo 7, every training pair at every step: further draws are the same rows again."""
    recipe = Recipe.from_document(
        {
            "objective": {"name": "modular_addition", "prime": 7, "train_share": 0.5, "batch": 100},
            "model": {"width": 16, "layers": 2, "heads": 2, "mlp_width": 16},
            "training": {"steps": 20},
            **tables,
        }
    )
    objective = modular_addition(**recipe.objective.parameters)
    return Training(recipe, objective, interventions)


def gradient_of(training: Training) -> torch.Tensor:
    """The next step's gradient as the optimizer sees it."""
    seen: list[torch.Tensor] = []

    def look(optimizer, *_):
        seen.append(torch.cat([p.grad.flatten() for p in training.model.parameters()]).double())

    training.optimizer.register_step_pre_hook(look)
    training.step()
    return seen[0]


def test_on_all_the_data_the_errors_are_those_of_two_trainings():
    made = dropout(rate=0.3, measure=1, reference=2)
    thinned, plain = gradient_of(all_pairs([dropout(rate=0.3, measure=0)])), gradient_of(all_pairs())
    found = all_pairs([made]).step().more
    expected = 1 - float(thinned @ plain / (thinned.norm() * plain.norm()))
    assert expected > 0.01
    assert found[f"intervention0/{WITH}"] == pytest.approx(expected, rel=1e-5)
    assert found[f"intervention0/{WITHOUT}"] == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("accumulation", [1, 3])
def test_at_rate_zero_both_errors_are_equal_and_above_zero(accumulation):
    tables = {"training": {"accumulation": accumulation, "clip": 0.1}}
    found = tiny_training([dropout(rate=0.0, measure=1)], **tables).step().more
    assert found[f"intervention0/{WITH}"] == pytest.approx(found[f"intervention0/{WITHOUT}"], rel=1e-4)
    assert 0 < found[f"intervention0/{WITH}"] < 1


def test_it_is_measured_when_asked_and_the_training_does_not_feel_it(run, weights):
    looking, blind = dropout(rate=0.3, measure=3, reference=1), dropout(rate=0.3, measure=0)
    for made in (looking, blind):
        made.window = Window(1, 7)
    tables = {"model": {"dropout": 0.1}}
    one, other = tiny_training([looking], **tables), tiny_training([blind], **tables)
    steps = [bool(found.more) for found in run(one, 9)]
    assert steps == [step in (1, 4) for step in range(9)]
    assert not any(found.more for found in run(other, 9))
    assert all(torch.equal(p, weights(other)[name]) for name, p in weights(one).items())


def test_a_gradient_of_zero_has_no_direction():
    def freeze_all(state, step):
        for parameter in state["model"].parameters():
            parameter.grad.zero_()

    made = dropout(measure=1, reference=1)
    training = tiny_training([Intervention(), made])
    training.interventions[0].on_gradients = freeze_all
    assert set(training.step().more) == {f"intervention1/{WITHOUT}"}


def test_rows_that_depend_on_the_state_cannot_be_repeated():
    training = tiny_training([dropout(measure=1)])
    training.objective.state_free = False
    with pytest.raises(BadContract, match="measure=0"):
        training.step()


def test_the_errors_are_recorded_with_their_step(tmp_path):
    entries = [{"spec": "dropout(rate=0.2, measure=4, reference=1)", "start": 2, "end": 9}]
    run = train(tiny(training={"steps": 10}), tmp_path / "run", interventions=entries, grade=False)
    frame = run.telemetry(f"intervention0/{WITH}").dropna()
    assert frame["step"].tolist() == [3, 7], "the steps that end there began at 2 and 6"


@pytest.mark.parametrize("wrong", [{"rate": 1.0}, {"shape": "cosine"}, {"measure": -1}, {"reference": 0}])
def test_senseless_parameters_are_refused(wrong):
    with pytest.raises(BadContract, match="dropout cannot be made so"):
        dropout(**wrong)

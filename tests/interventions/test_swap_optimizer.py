"""Adam to Adam carries every bit; SGD takes Adam's steps over at the rate they imply."""

import pytest
import torch

from ontogeny.errors import BadContract
from ontogeny.interventions import swap_optimizer
from ontogeny.interventions._swats import SwatsEstimate
from ontogeny.record.saving import optimizer_by_name
from ontogeny.testing import resumed, tiny_training
from ontogeny.vocabulary import Window

ADAM = {"optimizer": {"name": "adam", "weight_decay": 0.0}}


def at(step, **parameters):
    made = swap_optimizer(**parameters)
    made.window = Window(step)
    return made


@pytest.mark.parametrize(
    ("name", "to", "decay"),
    [("adam", "adam", 0.1), ("adamw", "adamw", 0.1), ("adamw", "adam", 0.0), ("adam", "adamw", 0.0)],
)
def test_adam_to_adam_with_transfer_changes_no_bit(name, to, decay, run, weights):
    optimizer = {"name": name, "weight_decay": decay, "betas": (0.8, 0.95), "amsgrad": True}
    plain = tiny_training(optimizer=optimizer)
    swapped = tiny_training([at(3, to=to)], optimizer=optimizer)
    for training in (plain, swapped):
        run(training, 6)
    one, other = weights(plain), weights(swapped)
    assert all(torch.equal(one[key], other[key]) for key in one)
    assert type(swapped.optimizer).__name__.lower() == to


def test_whoever_held_the_optimizer_holds_the_new_one(run):
    training = tiny_training([at(2, to="radam")])
    held, seen = training.optimizer, []
    held.register_step_post_hook(lambda *_: seen.append(type(held).__name__))
    run(training, 4)
    assert training.optimizer is held is training.schedule.optimizer
    assert seen == ["AdamW", "AdamW", "RAdam", "RAdam"]


def test_averages_and_counts_are_carried_settings_too(run):
    training = tiny_training([at(3, to="radam")], optimizer={"betas": (0.7, 0.9), "eps": 1e-5})
    run(training, 3)
    before = optimizer_by_name(training.optimizer, training.model)
    before = {n: {k: v.clone() for k, v in entry.items()} for n, entry in before["state"].items()}
    training.interventions[0].edit_state(training.state, 3)
    after = optimizer_by_name(training.optimizer, training.model)["state"]
    assert all(torch.equal(after[n][k], before[n][k]) for n in before for k in before[n])
    assert all(g["betas"] == (0.7, 0.9) and g["eps"] == 1e-5 for g in training.optimizer.param_groups)


def test_a_reset_begins_anew_and_a_warm_up_rises_to_the_rate(run, weights):
    training = tiny_training([at(3, to="adam", mode="reset_warmup", warmup=4)], **ADAM)
    rates = []
    training.optimizer.register_step_pre_hook(lambda o, *_: rates.append(o.param_groups[0]["lr"]))
    run(training, 3)
    before = weights(training)
    run(training)
    for name, parameter in training.model.named_parameters():
        large = parameter.grad.abs() > 1e-5
        expected = before[name] - 0.0025 * parameter.grad.sign()
        torch.testing.assert_close(parameter.detach()[large], expected[large], rtol=1e-3, atol=1e-5)
    run(training, 5)
    assert rates == pytest.approx([0.01] * 3 + [0.0025, 0.005, 0.0075, 0.01, 0.01, 0.01])


def test_sgd_goes_on_with_the_first_average_as_momentum(run, weights):
    training = tiny_training([at(3, rate=0.5)], **ADAM)
    run(training, 3)
    before = weights(training)
    averages = {p: e["exp_avg"].clone() for p, e in training.optimizer.state.items()}
    run(training)
    for name, parameter in training.model.named_parameters():
        momentum = 0.9 * averages[parameter] + 0.1 * parameter.grad
        torch.testing.assert_close(parameter.detach(), before[name] - 0.5 * momentum)


class Straight:
    """One group of weights whose gradient is ±1 for ever; Adam then moves each by its rate."""

    def __init__(self, rate, **options):
        self.parameter = torch.nn.Parameter(torch.zeros(6, dtype=torch.float64))
        self.optimizer = torch.optim.AdamW([self.parameter], lr=rate, **options)

    def step(self, estimate):
        self.parameter.grad = torch.tensor([1.0, -1, 1, 1, -1, 1], dtype=torch.float64)
        estimate.before(self.optimizer)
        self.optimizer.step()
        estimate.after()


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_a_constant_gradient_of_one_gives_adam_s_own_rate(decay):
    straight, estimate = Straight(0.03, weight_decay=decay), SwatsEstimate()
    straight.step(estimate)
    assert not estimate.settled(1e-6, False), "at the first step both are equal by construction"
    for _ in range(5):
        straight.step(estimate)
    assert estimate.rates() == pytest.approx([0.03], rel=1e-6)
    assert estimate.settled(1e-6, False)
    straight.optimizer.param_groups[0]["lr"] = 0.06
    straight.step(estimate)
    assert not estimate.settled(1e-6, False)
    assert estimate.settled(0.06, False) != estimate.settled(0.06, True)


def test_the_average_is_the_bias_corrected_one():
    estimate, gammas = SwatsEstimate(), [0.1, 0.4, 0.2]
    straight = Straight(1.0, weight_decay=0.0, betas=(0.9, 0.8))
    for gamma in gammas:
        straight.optimizer.param_groups[0]["lr"] = gamma
        straight.step(estimate)
    weights = [0.8**2, 0.8, 1.0]
    mean = sum(w * g for w, g in zip(weights, gammas, strict=True)) / sum(weights)
    assert estimate.rates() == pytest.approx([mean], rel=1e-6)


def test_the_swap_to_sgd_comes_at_the_estimated_rate_and_follows_the_schedule(run):
    made = at(2, after=3)
    training = tiny_training([made], schedule={"name": "linear"}, **ADAM)
    rates = []
    training.optimizer.register_step_pre_hook(lambda o, *_: rates.append([g["lr"] for g in o.param_groups]))
    run(training, 8)
    assert made.swapped_at == 5
    assert isinstance(training.optimizer, torch.optim.SGD)
    estimated = made.estimate.rates()
    assert made.estimate.count == 3
    assert all(rate > 0 for rate in estimated)
    assert rates[5] == pytest.approx(estimated)
    assert rates[7] == pytest.approx([rate * 12 / 14 for rate in estimated])


def test_it_waits_for_agreement_where_no_step_is_forced(run):
    never, soon = at(0), at(0, tolerance=10.0, relative=True)
    run(tiny_training([never], **ADAM), 5)
    run(tiny_training([soon], **ADAM), 5)
    assert never.swapped_at is None
    assert soon.swapped_at == 2


@pytest.mark.parametrize(
    "parameters",
    [
        {"to": "sgd", "rate": 0.1},
        {"to": "sgd", "rate": 0.1, "mode": "reset"},
        {"to": "sgd", "after": 2},
        {"to": "adam", "mode": "reset_warmup", "warmup": 6},
        {"to": "radam", "mode": "reset"},
    ],
)
@pytest.mark.parametrize("cut", [2, 3, 5, 7])
def test_a_run_resumes_before_and_after_the_swap(parameters, cut):
    fresh = lambda: at(3, **parameters)
    assert resumed(tiny_training, fresh, cut, 9) == resumed(tiny_training, fresh, 9, 9)


def test_from_sgd_adam_begins_anew(run):
    sgd = {"name": "sgd", "momentum": 0.9, "weight_decay": 0.0}
    training = tiny_training([at(2, to="adam", rate=0.003)], optimizer=sgd)
    run(training, 4)
    assert all(float(entry["step"]) == 2 for entry in training.optimizer.state.values())
    assert all(g["lr"] == pytest.approx(0.003) for g in training.optimizer.param_groups)


def test_what_cannot_be_is_refused(run):
    closed = swap_optimizer(rate=0.1)
    closed.window = Window(0, 5)
    with pytest.raises(BadContract, match="a swap lasts"):
        run(tiny_training([closed]))
    with pytest.raises(BadContract, match=r"(?s)estimated from Adam's steps only.*SGD"):
        run(tiny_training([swap_optimizer()], optimizer={"name": "sgd"}))
    with pytest.raises(BadContract, match="nothing is known to carry from RMSprop"):
        run(tiny_training([at(1, to="adam")], optimizer={"name": "rmsprop"}), 2)
    with pytest.raises(BadContract, match="lion"):
        swap_optimizer(to="lion")

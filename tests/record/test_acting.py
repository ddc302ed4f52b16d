"""Interventions in a loop of somebody else's act when they say, and on nothing that they cannot reach."""

import pytest
import torch

from foreign_loop import advance, batch_of, made
from ontogeny.catalogue import Intervention
from ontogeny.errors import BadContract
from ontogeny.interventions import batch_size, dropout, freeze, learning_rate, swap_optimizer, weight_decay
from ontogeny.record.acting import acting, interventions_of, require_reachable
from ontogeny.vocabulary import Counters, TrainingState, Window


class Watching(Intervention):
    """Remembers what was called, and whether there was a gradient."""

    def __init__(self, window=Window()):
        self.window, self.calls = window, []

    def edit_state(self, state, step):
        self.calls.append((step, "edit"))

    def on_gradients(self, state, step):
        self.calls.append((step, "gradients", state["model"][0].weight.grad is not None))
        self.before = state["model"][0].weight.detach().clone()

    def on_update(self, state, step):
        self.calls.append((step, "update", not torch.equal(state["model"][0].weight, self.before)))

    def on_loss(self, loss, step):
        self.calls.append((step, "loss", loss > 0))


def state_of(*interventions):
    torch.manual_seed(0)
    model, optimizer, schedule = made()
    parts = {f"intervention{number}": one for number, one in enumerate(interventions)}
    return TrainingState(model=model, optimizer=optimizer, schedule=schedule, counters=Counters(), **parts)


def steps(state, count, act=advance):
    for step in range(count):
        acting(act)(state, batch_of(step))
        state["counters"].step += 1


def test_each_hook_is_called_in_its_place_and_only_inside_the_window():
    watching = Watching(Window(1, 3))
    state = state_of(watching)
    steps(state, 5)
    inside = lambda step: [(step, "gradients", True), (step, "update", True), (step, "loss", True)]
    assert watching.calls == [(1, "edit"), *inside(1), *inside(2)]
    assert interventions_of(state) == [watching]


def test_the_step_is_put_back_as_it_was_also_after_an_error():
    state = state_of(Watching())
    before = state["optimizer"].step
    steps(state, 1)
    assert state["optimizer"].step == before

    def fail(state, batch):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        steps(state, 1, fail)
    assert state["optimizer"].step == before
    plain = torch.optim.SGD(state["model"].parameters(), lr=0.1)
    bare = TrainingState(model=state["model"], optimizer=plain, counters=Counters(), intervention0=Watching())
    steps(bare, 1, lambda state, batch: state["optimizer"].step() or 1.0)
    assert "step" not in vars(plain)


@pytest.mark.parametrize("act", ["twice", "closure"])
def test_a_step_that_is_not_one_plain_step_is_refused(act):
    def twice(state, batch):
        state["optimizer"].step()
        state["optimizer"].step()

    def closure(state, batch):
        state["optimizer"].step(lambda: None)

    with pytest.raises(BadContract, match="one plain"):
        steps(state_of(Watching()), 1, {"twice": twice, "closure": closure}[act])


def test_a_step_that_is_not_taken_has_no_gradients_to_act_on():
    watching = Watching()
    steps(state_of(watching), 1, lambda state, batch: torch.tensor(2.0))
    assert watching.calls == [(0, "edit"), (0, "loss", True)]


@pytest.mark.parametrize(
    ("hidden", "reason"), [(batch_size(), "given"), (dropout(), "inside"), (swap_optimizer(), "own")]
)
def test_what_is_inside_of_the_loop_is_refused_with_the_reason(hidden, reason):
    with pytest.raises(BadContract, match=rf"{type(hidden).__name__} cannot act in a foreign loop.*{reason}"):
        require_reachable([weight_decay(), hidden])
    require_reachable([weight_decay(), learning_rate(), freeze()])


def test_an_open_window_without_a_recipe_has_no_end():
    with pytest.raises(BadContract, match="how many steps it has"):
        steps(state_of(learning_rate(factor=0.5)), 1)

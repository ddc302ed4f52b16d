"""What holds for every intervention of the catalogue: window, extent, sham, state, order."""

import copy
import math
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import pytest
import torch

from ontogeny.catalogue import Intervention, part, parts
from ontogeny.record.digests import ModelDigest
from ontogeny.record.training import Training
from ontogeny.testing import check_intervention, follow, tiny_training
from ontogeny.vocabulary import Streams, Window

torch.set_num_threads(1)


class Example(NamedTuple):
    """With what an intervention touches everything of its extent within six tiny steps."""

    parameters: Mapping[str, Any] = {}
    window: Window = Window(2, 5)
    recipe: Mapping[str, Any] = {}


EXAMPLES = {
    "gradient_freeze": Example({"tau": math.inf, "alpha": 0.15}),
    "reinitialise_attention": Example({"heads": ((0, 1), (1, 0)), "value": True, "freeze_rest": True}),
    "shrink_and_perturb": Example({"every": 2}),
    "stop_on_nonfinite": Example(recipe={"optimizer": {"name": "sgd", "lr": 1e30}}),
    "stop_on_plateau": Example({"patience": 2, "delta": 10.0}),
    "swap_optimizer": Example({"after": 2}, Window(2)),
}
OURS = [name for name, made in parts("intervention").items() if made.make.__module__.startswith("ontogeny.")]


def example(name: str) -> tuple[Intervention, Example]:
    chosen = EXAMPLES.get(name, Example())
    made = part("intervention", name).make(**chosen.parameters)
    made.window = chosen.window
    return made, chosen


@pytest.mark.parametrize("name", OURS)
def test_it_keeps_the_contract_and_touches_all_that_it_declares(name):
    made, chosen = example(name)
    found = check_intervention(partial(tiny_training, **chosen.recipe), made)
    assert found.changed == made.extent


@pytest.mark.parametrize("name", OURS)
def test_it_has_an_open_window_of_its_own_until_somebody_gives_one(name):
    one, other = (part("intervention", name).make() for _ in range(2))
    assert one.window == Window()
    one.window = Window(3, 4)
    assert other.window == Window()
    assert one.sham().window == Window(3, 4)


@pytest.mark.parametrize("name", OURS)
def test_it_sees_every_micro_batch_and_its_sham_still_changes_nothing(name):
    made, chosen = example(name)
    tables: dict[str, Any] = {**chosen.recipe, "training": {"accumulation": 2, "clip": 1.0}}
    tables["model"] = {"dropout": 0.1}
    make = partial(tiny_training, **tables)
    training = make()
    _steps(training, 4)
    real, sham = follow(make, copy.deepcopy(made), 4), follow(make, made.sham(), 4)
    assert sham.digests[-1] == ModelDigest(training.model)()
    assert real.calls == sham.calls


@pytest.mark.parametrize("name", OURS)
def test_only_the_streams_it_may_use_are_drawn_from_anew(name, monkeypatch):
    """Keyed generators cannot be moved on by anybody, so equal keys are equal draws."""
    made, chosen = example(name)
    asked: list[tuple] = []
    make_generator = Streams.generator

    def spy(self, stream, step=0, place="", device="cpu"):
        asked.append((self.seed, step, stream, place))
        return make_generator(self, stream, step, place, device)

    monkeypatch.setattr(Streams, "generator", spy)
    tables = {**chosen.recipe, "model": {"dropout": 0.1}}
    _steps(tiny_training(**tables), 4)
    plain, asked[:] = list(asked), []
    before = torch.get_rng_state()
    _steps(tiny_training([made], **tables), 4)
    assert torch.equal(before, torch.get_rng_state()), "the global generator was used"
    further = [key for key in asked if key not in plain]
    assert [key for key in asked if key in set(plain)] == plain or "draw" in made.extent
    assert set(plain) <= set(asked)
    assert {stream for _, _, stream, _ in further} <= {"intervention", "data"}
    if "draw" not in made.extent:
        assert "data" not in {stream for _, _, stream, _ in further}


def altered(made: Intervention, **methods: Any) -> Intervention:
    """The same intervention with other methods."""
    twin = copy.deepcopy(made)
    twin.__class__ = type(type(made).__name__, (type(made),), methods)
    return twin


@pytest.mark.parametrize("name", ["nudge", "weight_decay", "batch_size", "gradient_freeze", "dropout"])
def test_a_sham_that_returns_early_is_caught(name):
    made, _ = example(name)
    idle = altered(made, sham=lambda self: Intervention())
    with pytest.raises(AssertionError, match=r"another path|less or more often"):
        check_intervention(tiny_training, idle)


def test_a_sham_that_writes_less_is_caught():
    made, _ = example("nudge")

    def write(self, tensor, value):
        if not self.inert:
            tensor.data.copy_(value)
            torch._C._autograd._unsafe_set_version_counter((tensor,), (tensor._version + 1,))

    with pytest.raises(AssertionError, match=r"writes blocks\.0\.attention_norm\.weight less"):
        check_intervention(tiny_training, altered(made, write=write))


def test_an_undeclared_change_is_caught():
    made, _ = example("nudge")
    with pytest.raises(AssertionError, match="changes model, which it does not declare"):
        check_intervention(tiny_training, altered(made, extent=frozenset({"draw"})))


def test_state_that_is_not_saved_is_caught():
    made, _ = example("skip_data")

    def forgetful(self, draw, step):
        self.seen = getattr(self, "seen", 0) + 1
        other = self.drawing.again(step + self.seen)
        return draw if self.inert else other

    with pytest.raises(AssertionError, match="does not survive a checkpoint"):
        check_intervention(tiny_training, altered(made, on_draw=forgetful))


def _steps(training: Training, count: int) -> None:
    for _ in range(count):
        training.step()
        training.state["counters"].step += 1


def rates(interventions) -> list[float]:
    """The learning rate of the first piece at the first step, as the optimizer sees it."""
    seen = []
    training = tiny_training(interventions)
    training.optimizer.register_step_pre_hook(lambda o, *_: seen.append(o.param_groups[0]["lr"]))
    training.step()
    return seen


def test_several_act_in_the_listed_order():
    make = part("intervention", "learning_rate").make
    half, fixed = make(factor=0.5), make(rate=1e-3)
    assert rates([fixed, half]) == pytest.approx([5e-4])
    assert rates([half, fixed]) == pytest.approx([1e-3])


def test_cut_groups_are_whole_again_whatever_was_listed_with_whom():
    make = lambda name, **values: part("intervention", name).make(**values)
    training = tiny_training(
        [
            make("learning_rate", patterns="blocks.0.*", factor=0.5),
            make("weight_decay", patterns="blocks.*.mlp.*", value=0.3),
            make("learning_rate", patterns=("embedding.weight", "blocks.0.mlp.*"), factor=0.1),
        ]
    )
    before = [[*map(id, group["params"])] for group in training.optimizer.param_groups]
    seen: dict[str, tuple[float, float]] = {}
    names = {id(p): name for name, p in training.model.named_parameters()}

    def look(optimizer, *_):
        for group in optimizer.param_groups:
            seen.update({names[id(p)]: (group["lr"], group["weight_decay"]) for p in group["params"]})

    training.optimizer.register_step_pre_hook(look)
    training.step()
    assert seen["blocks.0.mlp.up.weight"] == pytest.approx((0.01 * 0.5 * 0.1, 0.3))
    assert seen["blocks.0.attention.query.weight"] == pytest.approx((0.005, 0.1))
    assert seen["blocks.1.mlp.up.weight"] == pytest.approx((0.01, 0.3))
    assert seen["embedding.weight"] == pytest.approx((0.001, 0.0))
    assert [[*map(id, group["params"])] for group in training.optimizer.param_groups] == before
    assert [(g["lr"], g["weight_decay"]) for g in training.optimizer.param_groups] == [(0.01, 0.1), (0.01, 0)]
    assert all("cut_from" not in group for group in training.optimizer.param_groups)


def test_a_training_without_interventions_is_the_plain_loop():
    """What the hooks' places cost a run that has none: nothing, bit by bit."""
    training, other = tiny_training(training={"clip": 0.5}), tiny_training(training={"clip": 0.5})
    recorded, by_hand = ModelDigest(training.model), ModelDigest(other.model)
    for step in range(6):
        training.step()
        training.state["counters"].step += 1
        draw = other.objective.draw(step, Streams(0).generator("data", step))
        losses = other.objective.loss(
            other.model, other.objective.batch(draw, other.state, Streams(0).generator("sampling", step))
        )
        other.optimizer.zero_grad()
        ((losses.values * losses.weights).sum() / float(losses.weights.sum())).backward()
        torch.nn.utils.clip_grad_norm_(other.model.parameters(), 0.5)
        other.optimizer.step()
        assert recorded() == by_hand()


def test_nothing_is_laid_out_for_a_step_that_is_not_taken():
    training = tiny_training([part("intervention", "learning_rate").make(patterns="embedding.weight")])
    training.objective.loss = _weightless(training.objective.loss)
    groups = list(map(id, training.optimizer.param_groups))
    for _ in range(2):
        assert not training.step().applied
    assert list(map(id, training.optimizer.param_groups)) == groups


def _weightless(loss):
    def weigh(model, batch):
        losses = loss(model, batch)
        return type(losses)(losses.values, torch.zeros_like(losses.weights))

    return weigh

"""One step of a recipe: reductions, accumulation, dropout, schedules, exactness."""

import math

import pytest
import torch

from ontogeny.record.digests import ModelDigest
from ontogeny.record.recipe import Recipe
from ontogeny.record.training import Training, objective_of
from ontogeny.vocabulary import digest
from tiny_recipe import tiny


def tiny_steps(**tables) -> Recipe:
    """Attention only, twenty steps."""
    model = {"mlp": "none", **tables.pop("model", {})}
    return tiny(model=model, training={"steps": 20, **tables.pop("training", {})}, **tables)


def run(made: Recipe, tmp_path, steps: int) -> tuple[Training, list[int]]:
    training = Training(made, objective_of(made, tmp_path / "run"))
    look, found = ModelDigest(training.model), []
    for _ in range(steps):
        training.step()
        training.state["counters"].step += 1
        found.append(look())
    return training, found


def test_the_same_recipe_gives_the_same_bits(tmp_path):
    _, one = run(tiny_steps(), tmp_path, 5)
    torch.manual_seed(123)
    _, other = run(tiny_steps(), tmp_path, 5)
    _, seeded = run(tiny_steps(training={"seed": 1}), tmp_path, 5)
    assert one == other
    assert one[0] != seeded[0]


def test_dropout_draws_from_its_own_stream(tmp_path):
    made = tiny_steps(model={"dropout": 0.2})
    _, one = run(made, tmp_path, 4)
    torch.manual_seed(7)
    _, other = run(made, tmp_path, 4)
    _, without = run(tiny_steps(), tmp_path, 4)
    assert one == other
    assert one != without


def test_accumulation_is_the_weighted_mean_over_micro_batches(tmp_path):
    made = tiny_steps(training={"accumulation": 3})
    training = Training(made, objective_of(made, tmp_path / "run"))
    draws = [training.objective.draw(0, training.streams.generator("data", 0, str(k))) for k in range(3)]
    batches = [
        training.objective.batch(d, training.state, training.streams.generator("sampling")) for d in draws
    ]
    joined = {"tokens": torch.cat([b["tokens"] for b in batches])}
    if "weights" in batches[0]:
        joined["weights"] = torch.cat([b["weights"] for b in batches])
    expected = training.objective.loss(training.model, joined).mean().item()
    found = training.step()
    assert found.loss == pytest.approx(expected, rel=1e-6)
    assert found.samples == 12


def test_the_digest_is_that_of_the_state(tmp_path):
    training, found = run(tiny_steps(), tmp_path, 2)
    tensors = {id(t): t for t in training.model.state_dict(keep_vars=True).values()}
    assert found[-1] == digest(list(tensors.values()))
    moved = training.model.embedding.weight
    moved.data = moved.data.clone()
    assert ModelDigest(training.model)() == found[-1], "where the bytes lie does not matter"


def test_the_schedule_sets_the_rate_that_is_used(tmp_path):
    made = tiny_steps(schedule={"name": "linear", "warmup": 4}, training={"steps": 8})
    training = Training(made, objective_of(made, tmp_path / "run"))
    rates = []
    for _ in range(8):
        training.step()
        rates.append(training.optimizer.param_groups[0]["lr"])
        training.state["counters"].step += 1
    assert rates[:4] == pytest.approx([0.0025, 0.005, 0.0075, 0.01])
    assert rates[-1] == pytest.approx(0.0)


def test_clipping_reports_the_norm_before_it(tmp_path):
    made = tiny_steps(training={"clip": 1e-3})
    training = Training(made, objective_of(made, tmp_path / "run"))
    found = training.step()
    after = math.sqrt(sum(p.grad.square().sum().item() for p in training.model.parameters()))
    assert found.gradient_norm > 1e-2
    assert after == pytest.approx(1e-3, rel=1e-3)


def test_autocast_trains_and_repeats(tmp_path):
    made = tiny_steps(training={"autocast": "bfloat16"})
    _, one = run(made, tmp_path, 3)
    _, other = run(made, tmp_path, 3)
    _, plain = run(tiny_steps(), tmp_path, 3)
    assert one == other
    assert one != plain


def test_evaluation_and_samples_leave_training_alone(tmp_path):
    made = tiny_steps()
    _, plain = run(made, tmp_path, 4)
    training = Training(made, objective_of(made, tmp_path / "run"))
    look, found = ModelDigest(training.model), []
    for _ in range(4):
        assert math.isfinite(training.evaluate(6)["heldout_loss"])
        assert len(training.samples(2, 5)) == 2
        training.step()
        training.state["counters"].step += 1
        found.append(look())
    assert found == plain

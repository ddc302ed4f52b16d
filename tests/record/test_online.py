"""Instruments that run while a model is trained, and again on a replayed step."""

import math

import pytest
import torch
from torch import Tensor, nn

from ontogeny.catalogue import instrument, part
from ontogeny.errors import BadContract, UnknownName
from ontogeny.record.online import OnlineParts
from ontogeny.record.recipe import Recipe
from ontogeny.record.recorder import Recorder
from ontogeny.record.train import record_step, run_identity
from ontogeny.record.training import Training, objective_of
from ontogeny.replay import measure_step
from ontogeny.store.run import Run
from ontogeny.testing import check_online, temporary_catalogue
from ontogeny.vocabulary import Reading, Status, undefined

Tensors = dict[str, Tensor]


def flat(tensors: Tensors) -> Tensor:
    return torch.cat([torch.zeros(0), *(tensor.flatten().double() for tensor in tensors.values())])


@pytest.fixture(autouse=True)
def parts_of_their_own():
    with temporary_catalogue():

        @instrument(unit="norm", source="a test", family="telemetry", online=True)
        def proof_norm(gradient: Tensors, parameter: Tensors):
            """Length of the gradient.

            Known: half the squared weights -> their length.
            Misleads: no.
            """
            return {"": flat(gradient).norm(), "missing": float(len(parameter) - len(gradient))}

        @instrument(unit="cosine", source="a test", family="telemetry", online=True)
        def proof_turn(gradient: Tensors, previous_gradient: Tensors):
            """Cosine of two successive gradients.

            Known: the same -> 1.
            Misleads: no.
            """
            both = [name for name in gradient if name in previous_gradient]
            here, before = (flat({name: of[name] for name in both}) for of in (gradient, previous_gradient))
            if not bool(here.any() & before.any()):
                return undefined(Status.ZERO_OUTPUT, "a gradient is zero")
            return Reading(here @ before / here.norm() / before.norm())

        @instrument(unit="ratio", source="a test", family="telemetry", online=True)
        def proof_rate(update: Tensors, gradient: Tensors):
            """Update over gradient.

            Known: plain descent -> the rate.
            Misleads: no.
            """
            return flat(update).norm() / flat(gradient).norm()

        @instrument(unit="share", source="a test", family="telemetry", online=True)
        def proof_decay(decay: dict[str, float]):
            """Largest share by which a parameter decays.

            Known: rate times decay.
            Misleads: no.
            """
            return max(decay.values(), default=0.0)

        @instrument(unit="x", source="a test", family="telemetry", online=True)
        def proof_broken(gradient: Tensors):
            """Raises.

            Known: no.
            Misleads: no.
            """
            raise ZeroDivisionError("by design")

        yield


def trained(path, every, steps: int = 6, clip: float = 0.0, rate: float = 0.1, optimizer=torch.optim.SGD):
    """Half the squared weights: the gradient is the weights themselves."""
    model = nn.Linear(3, 2)
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters(), 1):
            parameter.fill_(float(number))
    made = optimizer(model.parameters(), lr=rate)
    expected = []
    with Recorder(path, model, made, checkpoints=(), every=every) as recorder:
        for _ in range(steps):
            made.zero_grad()
            loss = sum(p.square().sum() for p in model.parameters()) / 2
            loss.backward()
            expected.append(float(flat(dict(model.named_parameters())).detach().norm()))
            norm = nn.utils.clip_grad_norm_(model.parameters(), clip) if clip else None
            made.step()
            recorder.step(loss, gradient_norm=norm)
    return Run.open(path), expected


def test_each_is_recorded_in_its_own_rhythm(tmp_path):
    run, expected = trained(tmp_path / "run", {"proof_norm": 1, "proof_turn": 3})
    norms = run.telemetry("proof_norm", "proof_norm.missing")
    assert norms["step"].tolist() == [1, 2, 3, 4, 5, 6]
    assert norms["proof_norm"].tolist() == pytest.approx(expected, rel=1e-12)
    assert set(norms["proof_norm.missing"]) == {0.0}
    turns = run.telemetry("proof_turn")
    assert turns["step"].tolist() == [3, 6]
    assert turns["proof_turn"].tolist() == pytest.approx([1, 1])


def test_every_module_has_its_own_number_and_together_they_are_the_whole(tmp_path):
    run, expected = trained(tmp_path / "run", {"proof_norm": 2})
    assert {"proof_norm/weight", "proof_norm/biases"} <= set(run.metrics)
    frame = run.telemetry("proof_norm", "proof_norm/weight", "proof_norm/biases")
    whole = frame["proof_norm"].to_numpy()
    assert (frame["proof_norm/weight"] ** 2 + frame["proof_norm/biases"] ** 2).to_numpy() == pytest.approx(
        whole**2
    )
    assert whole.tolist() == pytest.approx(expected[1::2])


def test_gradients_are_those_before_clipping(tmp_path):
    run, expected = trained(tmp_path / "run", {"proof_norm": 1, "proof_turn": 1}, clip=0.5)
    assert run.telemetry("proof_norm")["proof_norm"].tolist() == pytest.approx(expected, rel=1e-6)
    assert run.telemetry("clip_coefficient")["clip_coefficient"].max() < 0.5


def test_updates_and_decay(tmp_path):
    run, _ = trained(tmp_path / "run", {"proof_rate": 1})
    assert run.telemetry("proof_rate")["proof_rate"].tolist() == pytest.approx([0.1] * 6, rel=1e-6)
    adamw = lambda parameters, lr: torch.optim.AdamW(parameters, lr=lr, weight_decay=0.3)
    run, _ = trained(tmp_path / "other", {"proof_decay": 2}, optimizer=adamw)
    assert run.telemetry("proof_decay")["proof_decay"].tolist() == pytest.approx([0.03] * 3)


def test_what_does_not_exist_is_nan_and_told_once(tmp_path):
    run, _ = trained(tmp_path / "run", {"proof_turn": 1, "proof_broken": 1})
    frame = run.telemetry("proof_turn", "proof_broken")
    assert math.isnan(frame["proof_turn"][0])
    assert frame["proof_turn"][1:].notna().all()
    assert frame["proof_broken"].isna().all()
    told = [note.data for note in run.notes if note.kind == "undefined"]
    reasons = {(note["metric"], note["reason"]) for note in told}
    assert ("proof_turn", "no-target: the step before was not seen") in reasons
    assert ("proof_broken", "failed: ZeroDivisionError: by design") in reasons
    assert len(told) == 6, "once for the whole model and once for each of two groups"


def test_of_one_name_the_instruments_number_is_recorded(tmp_path):
    with temporary_catalogue():

        @instrument(unit="norm", source="a test", online=True)
        def update_norm(update: Tensors):
            """Minus one.

            Known: no.
            Misleads: no.
            """
            return -1.0

        run, _ = trained(tmp_path / "run", {"update_norm": 3})
    assert run.telemetry("update_norm").dropna()["update_norm"].tolist() == [-1.0, -1.0]
    assert run.telemetry("gradient_norm")["gradient_norm"].notna().sum() == 6


def test_nothing_is_changed_by_watching(tmp_path):
    one, expected = trained(tmp_path / "one", {})
    other, watched = trained(tmp_path / "other", {"proof_norm": 1, "proof_turn": 1, "proof_rate": 2})
    assert expected == watched
    digests = [run.telemetry("model_digest")["model_digest"].tolist() for run in (one, other)]
    assert digests[0] == digests[1]


def test_what_is_no_online_part_is_refused_before_anything_is_trained(tmp_path):
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(BadContract, match="cannot be read from a training step"):
        Recorder(tmp_path / "run", model, optimizer, every={"induction": 1})
    with pytest.raises(UnknownName, match="did you mean 'proof_norm'"):
        Recorder(tmp_path / "run", model, optimizer, every={"proof_nrm": 1})
    with pytest.raises(BadContract, match="every 0 steps"):
        OnlineParts({"proof_norm": 0})
    assert not (tmp_path / "run").exists()


RECIPE = {
    "model": {"width": 16, "layers": 1, "heads": 2, "mlp": "none", "tied": False},
    "objective": {
        "name": "copied_segments",
        "vocabulary": 32,
        "context": 16,
        "batch": 4,
        "shortest": 4,
        "longest": 8,
    },
    "optimizer": {"name": "adamw", "lr": 0.01},
    "training": {"steps": 6, "clip": 0.1},
    "recording": {"every": 2, "dense_until": 2, "evaluate": 0, "samples": 0},
}
ONLINE = ["proof_norm", "proof_turn", "proof_rate", "proof_decay"]


def online_run(path) -> Run:
    recipe = Recipe.from_document(RECIPE)
    training = Training(recipe, objective_of(recipe, path))
    parts = {name: part for name, part in training.state.items() if name not in ("model", "optimizer")}
    with Recorder(
        path,
        training.model,
        training.optimizer,
        checkpoints=recipe.recording.scheduled(6),
        parts=parts,
        identity=run_identity(training),
        every=dict.fromkeys(ONLINE, 1),
    ) as recorder:
        for _ in range(6):
            record_step(training, recorder, training.step())
    return Run.open(path)


@pytest.mark.parametrize("step", [1, 4, 5, 6])
def test_a_replayed_step_gives_the_very_numbers(tmp_path, step):
    run = online_run(tmp_path / "run")
    found = measure_step(run, step, ONLINE)
    assert {"proof_norm", "proof_turn", "proof_rate", "proof_decay"} <= set(found)
    assert len(found) > 20
    frame = run.telemetry(*found)
    recorded = frame[frame["step"] == step].iloc[0]
    for metric, value in found.items():
        assert recorded[metric] == value or (math.isnan(recorded[metric]) and math.isnan(value)), metric


@pytest.mark.parametrize("name", ["proof_norm", "proof_turn", "proof_decay"])
def test_the_contract_is_kept_by_these_and_not_by_careless_ones(name):
    check_online(part("instrument", name))
    with pytest.raises(AssertionError, match="proof_broken"):
        check_online(part("instrument", "proof_broken"))

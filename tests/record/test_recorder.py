"""The Recorder in a plain loop of somebody else's."""

import math

import pytest
import torch
from torch import nn

from ontogeny.errors import BadContract, NotWritable, RunExists, RunHeld
from ontogeny.record.recorder import Recorder
from ontogeny.store.run import Run
from ontogeny.vocabulary import Scheduled, digest


def small_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


def train(model, optimizer, steps: int, recorder=None, clip: float = 0.0) -> list[torch.Tensor]:
    rng = torch.Generator().manual_seed(1)
    for _ in range(steps):
        loss = model(torch.randn(16, 6, generator=rng)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), clip) if clip else None
        optimizer.step()
        if recorder is not None:
            recorder.step(loss, tokens=16, gradient_norm=norm)
    return [p.detach().clone() for p in model.parameters()]


def test_it_only_watches(tmp_path):
    model = small_model()
    plain = train(model, torch.optim.AdamW(model.parameters(), lr=0.1), 12)
    before = torch.get_rng_state()
    model = small_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    with Recorder(tmp_path / "run", model, optimizer) as recorder:
        torch.set_rng_state(before)
        recorded = train(model, optimizer, 12, recorder)
        assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(plain, recorded, strict=True))
    assert not optimizer._optimizer_step_pre_hooks
    assert not optimizer._optimizer_step_post_hooks


def test_what_is_recorded_by_default(tmp_path):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    weights = [p.detach().clone() for p in model.parameters()]
    recorder = Recorder(tmp_path / "run", model, optimizer)
    after = train(model, optimizer, 1, recorder)
    recorder.log(extra=2.5, text="so", count=torch.tensor(3))
    recorder.close()
    record = Run.open(tmp_path / "run").telemetry().set_index("step").loc[1].iloc[0]
    update = math.sqrt(sum((a - b).square().sum().item() for a, b in zip(weights, after, strict=True)))
    size = math.sqrt(sum(w.square().sum().item() for w in weights))
    assert record["update_norm"] == pytest.approx(update, rel=1e-6)
    assert record["gradient_norm"] == pytest.approx(update / 0.5, rel=1e-6), "SGD: update = lr × gradient"
    assert record["update_ratio"] == pytest.approx(update / size, rel=1e-6)
    assert record["learning_rate"] == 0.5
    assert bool(record["applied"]) is True
    assert record["tokens"] == 16
    assert record["loss_weight"] == 16
    assert int(record["model_digest"]) == digest(list(model.state_dict().values()))
    run = Run.open(tmp_path / "run")
    assert run.telemetry("extra")["extra"].tolist() == [2.5]
    assert run.telemetry("count")["count"].tolist() == [3]
    modules = run.telemetry("gradient_norm/0", "gradient_norm/2", "gradient_norm/biases").iloc[0]
    total = sum(modules[name] ** 2 for name in modules.index if name.startswith("gradient"))
    assert math.sqrt(total) == pytest.approx(record["gradient_norm"], rel=1e-6), "modules partition the whole"


def test_the_norm_before_clipping_gives_the_coefficient(tmp_path):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recorder = Recorder(tmp_path / "run", model, optimizer)
    train(model, optimizer, 3, recorder, clip=0.01)
    recorder.close()
    frame = Run.open(tmp_path / "run").telemetry("gradient_norm", "clip_coefficient", "update_norm")
    clipped = frame["gradient_norm"] * frame["clip_coefficient"]
    assert (frame["gradient_norm"] > 0.02).all()
    assert clipped.tolist() == pytest.approx([0.01] * 3, rel=1e-3)
    assert frame["update_norm"].tolist() == pytest.approx((clipped * 0.1).tolist(), rel=1e-5)


def test_decoupled_decay_is_told_apart_from_the_rest_of_the_update(tmp_path):
    model = small_model()
    size = math.sqrt(sum(p.square().sum().item() for p in model.parameters()))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.5)
    recorder = Recorder(tmp_path / "run", model, optimizer)
    train(model, optimizer, 1, recorder)
    recorder.close()
    run = Run.open(tmp_path / "run")
    assert run.telemetry("decay_norm")["decay_norm"].tolist() == pytest.approx([0.05 * size], rel=1e-6)
    plain = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.5)
    recorder = Recorder(tmp_path / "plain", model, plain)
    train(model, plain, 1, recorder)
    recorder.close()
    assert "decay_norm" not in Run.open(tmp_path / "plain").metrics, "SGD's decay is part of the gradient"


def test_a_skipped_step_is_not_applied(tmp_path):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recorder = Recorder(tmp_path / "run", model, optimizer)
    recorder.step(1.0)
    train(model, optimizer, 1, recorder)
    recorder.close()
    run = Run.open(tmp_path / "run")
    assert run.telemetry("applied")["applied"].tolist() == [False, True]
    assert len(run.telemetry("update_norm")) == 1, "nothing was updated, so nothing is recorded of it"


def test_frozen_parameters_are_absent_not_zero(tmp_path):
    model = small_model()
    model[0].weight.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recorder = Recorder(tmp_path / "run", model, optimizer)
    train(model, optimizer, 2, recorder)
    model[0].weight.requires_grad_(True)
    train(model, optimizer, 2, recorder)
    recorder.close()
    run = Run.open(tmp_path / "run")
    assert run.telemetry("gradient_norm/0")["step"].tolist() == [3, 4]
    assert run.telemetry("parameters_without_gradient")["parameters_without_gradient"].tolist() == [
        1,
        1,
        0,
        0,
    ]


def test_checkpoints_hold_everything_by_name(tmp_path):
    model = small_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    recorder = Recorder(tmp_path / "run", model, optimizer, checkpoints=Scheduled(6, explicit=(0, 2)))
    train(model, optimizer, 6, recorder)
    recorder.close()
    found = Run.open(tmp_path / "run").checkpoints
    assert [c.step for c in found] == [0, 2, 6]
    last = found[-1]
    assert torch.equal(last.tensors("model")["0.weight"], model[0].weight)
    moments = last.tensors("optimizer")["optimizer/state/0.weight/exp_avg"]
    assert torch.equal(moments, optimizer.state[model[0].weight]["exp_avg"])
    state = last.document("state")
    assert state["counters"]["step"] == 6
    assert state["optimizer"]["groups"][0]["params"] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert {"python", "numpy", "torch"} <= set(state["random"])


def test_an_error_in_the_loop_leaves_a_readable_run(tmp_path):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def work(stopped):
        with Recorder(tmp_path / stopped.__name__, model, optimizer) as recorder:
            train(model, optimizer, 3, recorder)
            raise stopped

    for stopped, outcome in ((KeyboardInterrupt, "interrupted"), (ZeroDivisionError, "failed")):
        with pytest.raises(stopped):
            work(stopped)
        run = Run.open(tmp_path / stopped.__name__)
        assert run.outcome == outcome
        assert run.telemetry("loss")["step"].tolist() == [1, 2, 3]
        assert run.verify() == []


def test_a_folder_has_one_run_and_one_writer(tmp_path):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recorder = Recorder(tmp_path / "run", model, optimizer)
    with pytest.raises(RunHeld, match="being written by another process"), recorder.run.held():
        pass
    with pytest.raises(RunExists):
        Recorder(tmp_path / "run", model, optimizer)
    recorder.close()
    with recorder.run.held():
        pass


def test_bad_values_and_folders_are_refused(tmp_path):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    (tmp_path / "file").write_text("")
    with pytest.raises(NotWritable):
        Recorder(tmp_path / "file" / "run", model, optimizer)
    with Recorder(tmp_path / "run", model, optimizer) as recorder, pytest.raises(BadContract):
        recorder.log(many=torch.zeros(3))


def test_wrapped_and_tied_models_have_plain_names(tmp_path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.inside = nn.Linear(4, 4, bias=False)
            self.outside = nn.Linear(4, 4, bias=False)
            self.outside.weight = self.inside.weight

        def forward(self, x):
            return self.outside(self.inside(x))

    model = nn.Sequential()
    model.add_module("module", nn.Sequential())
    model.module.add_module("_orig_mod", Tied())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    recorder = Recorder(tmp_path / "run", model, optimizer)
    loss = model(torch.ones(2, 4)).sum()
    loss.backward()
    optimizer.step()
    recorder.step(loss)
    recorder.close()
    run = Run.open(tmp_path / "run")
    assert list(run.checkpoints[-1].tensors("model")) == ["inside.weight"]
    assert run.telemetry("gradient_norm/inside")["step"].tolist() == [1]

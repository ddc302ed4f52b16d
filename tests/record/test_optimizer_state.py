"""Optimizer state survives by name: loaded into a fresh model and optimizer, it goes on bit for bit."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from ontogeny.errors import BadContract, ForeignCheckpoint
from ontogeny.record.digests import ModelDigest
from ontogeny.record.recorder import Recorder
from ontogeny.record.restoring import restore_state
from ontogeny.record.saving import join_tensors, split_tensors
from ontogeny.store.run import Run
from ontogeny.vocabulary import Counters, TrainingState

SAVED, STEPS = 6, 14


def layers() -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=0.02, betas=(0.8, 0.95))


class Case:
    """One kind of model and optimizer; `before` is what the loop does ahead of a step."""

    def model(self) -> nn.Module:
        return layers()

    def optimizer(self, model) -> torch.optim.Optimizer:
        return adamw(model)

    def before(self, step: int, model, optimizer) -> None: ...


class EmptyGroups(Case):
    """Groups with settings of their own that hold nothing."""

    def optimizer(self, model):
        groups = [{"params": [], "betas": (0.5, 0.6)}, {"params": list(model.parameters())}, {"params": []}]
        return torch.optim.AdamW(groups, lr=0.02)


class Frozen(Case):
    """Parameters that no gradient reaches, in a group all the same."""

    def model(self):
        model = layers()
        model[0].requires_grad_(False)
        return model


class Tied(Case):
    """One parameter under two names."""

    def model(self):
        model = nn.Sequential(nn.Linear(6, 6, bias=False), nn.Tanh(), nn.Linear(6, 6, bias=False))
        model[2].weight = model[0].weight
        return model


class Scalar(Case):
    """A parameter without dimensions."""

    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.scale = layers(), nn.Parameter(torch.tensor(1.5))

        def forward(self, x):
            return self.inner(x) * self.scale

    def model(self):
        return self.Scaled()


class Complex(Case):
    """A complex parameter."""

    class Turned(nn.Module):
        def __init__(self):
            super().__init__()
            self.turn = nn.Parameter(torch.randn(6, 4, dtype=torch.complex64))

        def forward(self, x):
            return (x.to(torch.complex64) @ self.turn).abs()

    def model(self):
        return self.Turned()


class Lazy(Case):
    """Parameters and buffers that come to be at the first forward."""

    def model(self):
        return nn.Sequential(nn.LazyLinear(8), nn.LazyBatchNorm1d(), nn.Linear(8, 3))


class Unfreezing(Case):
    """A layer that joins the optimizer when it is unfrozen, before the checkpoint."""

    at = 4

    def model(self):
        model = layers()
        model[0].requires_grad_(False)
        return model

    def optimizer(self, model):
        return torch.optim.AdamW(model[2].parameters(), lr=0.02)

    def before(self, step, model, optimizer):
        if step == self.at:
            model[0].requires_grad_(True)
            optimizer.add_param_group({"params": list(model[0].parameters()), "lr": 0.005})


class UnfreezingLater(Unfreezing):
    """The same, after the checkpoint."""

    at = 9


class Half(Case):
    """Weights of bfloat16 with float32 momentum, which torch's own loading would round."""

    class Momentum(torch.optim.Optimizer):
        def __init__(self, parameters):
            super().__init__(parameters, {"lr": 0.02})

        @torch.no_grad()
        def step(self, closure=None):
            for parameter in self.param_groups[0]["params"]:
                state = self.state[parameter]
                state.setdefault("momentum", torch.zeros_like(parameter, dtype=torch.float32))
                state["momentum"].mul_(0.9).add_(parameter.grad.float())
                parameter.sub_(self.param_groups[0]["lr"] * state["momentum"])

    def model(self):
        return layers().bfloat16()

    def optimizer(self, model):
        return self.Momentum(model.parameters())


CASES = [EmptyGroups, Frozen, Tied, Scalar, Complex, Lazy, Unfreezing, UnfreezingLater, Half]


def go_on(case: Case, model, optimizer, first: int, last: int, each: Callable[[Tensor], object]) -> list[int]:
    digest, found = ModelDigest(model), []
    for step in range(first, last):
        batch = torch.randn(16, 6, generator=torch.Generator().manual_seed(step))
        case.before(step, model, optimizer)
        optimizer.zero_grad()
        dtype = next(p.dtype for p in reversed(list(model.parameters())))
        loss = model(batch.to(dtype) if dtype is torch.bfloat16 else batch).square().mean()
        loss.backward()
        optimizer.step()
        each(loss)
        found.append(digest())
    return found


@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
def test_saved_and_loaded_it_goes_on_bit_for_bit(tmp_path, kind):
    case = kind()
    torch.manual_seed(0)
    model = case.model()
    optimizer = case.optimizer(model)
    with Recorder(tmp_path / "run", model, optimizer, checkpoints={0, SAVED}) as recorder:
        whole = go_on(case, model, optimizer, 0, STEPS, recorder.step)
    run = Run.open(tmp_path / "run")
    assert run.telemetry("model_digest")["model_digest"].astype(object).tolist()[1:] == whole
    torch.manual_seed(1)
    fresh = case.model()
    state = TrainingState(model=fresh, optimizer=case.optimizer(fresh), counters=Counters())
    saved = next(c for c in run.checkpoints if c.step == SAVED)
    restore_state(state, saved)
    assert state["counters"].step == SAVED
    assert go_on(case, fresh, state["optimizer"], SAVED, STEPS, lambda loss: None) == whole[SAVED:]
    assert run.verify() == []
    kept = [{k: v for k, v in g.items() if k != "params"} for g in optimizer.param_groups]
    assert kept == [{k: v for k, v in g.items() if k != "params"} for g in state["optimizer"].param_groups]


def test_the_moment_lazy_parameters_come_to_be_is_noted(tmp_path):
    model = Lazy().model()
    optimizer = adamw(model)
    with Recorder(tmp_path / "run", model, optimizer, checkpoints={0, 2}) as recorder:
        go_on(Lazy(), model, optimizer, 0, 3, recorder.step)
    run = Run.open(tmp_path / "run")
    (note,) = [note for note in run.notes if note.kind == "materialised"]
    assert note.data["step"] == 1
    assert note.data["parameters"] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert "0.weight" not in run.checkpoints[0].tensors("model")
    assert run.checkpoints[1].tensors("model")["0.weight"].shape == (8, 6)
    assert run.identity["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert run.telemetry("gradient_norm/0")["step"].tolist() == [1, 2, 3]
    assert run.telemetry("update_ratio/0")["step"].tolist() == [1, 2, 3]
    still = Lazy().model()
    restore_state(TrainingState(model=still, optimizer=adamw(still)), run.checkpoints[0])
    assert still[0].has_uninitialized_params(), "what was lazy there stays lazy"


def test_groups_that_grow_are_an_event(tmp_path):
    case = Unfreezing()
    model = case.model()
    optimizer = case.optimizer(model)
    with Recorder(tmp_path / "run", model, optimizer, checkpoints={8}) as recorder:
        go_on(case, model, optimizer, 0, 8, recorder.step)
    run = Run.open(tmp_path / "run")
    (note,) = [note for note in run.notes if note.kind == "groups"]
    assert note.data == {
        "step": 5,
        "before": [2],
        "parameters": [["2.weight", "2.bias"], ["0.weight", "0.bias"]],
    }
    assert run.telemetry("learning_rate/group1")["step"].tolist() == [5, 6, 7, 8]


def test_foreign_checkpoints_and_parameters_are_refused(tmp_path):
    model = layers()
    Recorder(tmp_path / "run", model, adamw(model)).close()
    saved = Run.open(tmp_path / "run").checkpoints[0]
    for other in (nn.Linear(6, 8), nn.Sequential(nn.Linear(6, 9), nn.Tanh(), nn.Linear(9, 3))):
        with pytest.raises(ForeignCheckpoint):
            restore_state(TrainingState(model=other, optimizer=adamw(other)), saved)
    swapped = torch.optim.AdamW([{"params": list(reversed(list(model.parameters())))}])
    with pytest.raises(ForeignCheckpoint, match="groups hold other parameters"):
        restore_state(TrainingState(model=model, optimizer=swapped), saved)
    with pytest.raises(BadContract, match="that the model does not have"):
        Recorder(tmp_path / "other", layers(), adamw(model))


def test_nested_values_come_back_as_they_were():
    tensor = torch.arange(3)
    value = {
        "tuple": (1, [2.5, ("a", None)], {}),
        "numbers": {10: 1, 20: {30: tensor}},
        "mistaken": [{"tensor": "x"}, {"tuple": [1]}, {"pairs": []}],
        "tensors": [tensor, (tensor,)],
        ("a", 1): True,
    }
    tensors: dict[str, Tensor] = {}
    assert str(join_tensors(split_tensors(value, "value", tensors), tensors)) == str(value)
    with pytest.raises(BadContract, match="value/inner"):
        split_tensors({"inner": object()}, "value", {})

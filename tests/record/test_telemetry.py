"""What the Recorder records by itself is what the parts of the same names read, by the same code."""

import pytest
import torch
from torch import nn

from ontogeny.record.recorder import Recorder
from ontogeny.store.run import Run

STEPS = 5
#: What the Recorder calls a number of its own, and the parts' name for it.
NAMES = {
    "gradient_norm": "gradient_norm",
    "update_ratio": "update_ratio",
    "update_norm": "update_ratio.update_norm",
    "decay_norm": "update_ratio.decay_norm",
}


def trained(path, every: dict[str, int], clip: float | None = None) -> Run:
    """A loop that is not ours: AdamW in two groups, one parameter that never has a gradient."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(11, 6), nn.Linear(6, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 11))
    model.idle = nn.Parameter(torch.ones(3, 3))
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0, "lr": 0.02}]
    optimizer = torch.optim.AdamW(groups, lr=0.05)
    with Recorder(path, model, optimizer, checkpoints=(), every=every) as recorder:
        for _ in range(STEPS):
            tokens = torch.randint(11, (4, 9))
            optimizer.zero_grad()
            logits = nn.Sequential.forward(model, tokens)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten())
            loss.backward()
            told = None if clip is None else nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            recorder.step(loss, gradient_norm=told)
    return Run.open(path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[Run, Run]:
    """The same training twice: as the Recorder records it by itself, and with the parts in its place."""
    path = tmp_path_factory.mktemp("runs")
    return trained(path / "plain", {}), trained(path / "parts", {"gradient_norm": 1, "update_ratio": 1})


@pytest.mark.parametrize("name", NAMES)
def test_both_give_the_same_number_to_the_last_bit(runs, name):
    plain, parts = (
        run.telemetry(metric)[metric] for run, metric in zip(runs, (name, NAMES[name]), strict=True)
    )
    assert plain.notna().all()
    assert len(plain) == STEPS
    assert plain.tolist() == parts.tolist()


def test_so_they_do_of_every_group(runs):
    plain, parts = runs
    names = [n for n in plain.metrics if n.startswith(("gradient_norm/", "update_ratio/"))]
    assert {"gradient_norm/0", "gradient_norm/norms", "update_ratio/4"} <= set(names)
    own, other = plain.telemetry(*names), parts.telemetry(*names)
    for name in names:
        narrow = other[name].astype("float32")  # the Recorder keeps its many numbers by group in four bytes
        assert own[name].tolist() == narrow.tolist(), name


def test_nothing_is_recorded_twice(runs):
    plain, parts = runs
    assert [m for m in parts.metrics if m == "gradient_norm"] == ["gradient_norm"]
    gained = {m.partition("/")[0] for m in set(parts.metrics) - set(plain.metrics)}
    components = ("clip_coefficient", "nonfinite", "without_gradient")
    expected = {f"gradient_norm.{c}" for c in components}
    # The parameter without gradient: the Recorder leaves its group out, the part says why there is no number.
    assert gained - {"gradient_norm"} == expected | {"update_ratio.update_norm", "update_ratio.decay_norm"}
    assert (
        parts.telemetry("gradient_norm.without_gradient")["gradient_norm.without_gradient"].tolist()
        == [1] * STEPS
    )


def test_what_was_clipped_agrees_to_a_millionth(tmp_path):
    plain, parts = (
        trained(tmp_path / "plain", {}, 0.1),
        trained(tmp_path / "parts", {"gradient_norm": 1}, 0.1),
    )
    for name in [n for n in plain.metrics if n.partition("/")[0] == "gradient_norm"]:
        own, other = (run.telemetry(name)[name].tolist() for run in (plain, parts))
        assert own == pytest.approx(other, rel=1e-6), name
    assert plain.telemetry("clip_coefficient")["clip_coefficient"].max() < 0.9


def test_a_parameter_without_gradient_does_not_decay(runs):
    _, parts = runs
    idle = parts.telemetry("update_ratio.decay_norm/idle", "update_ratio/idle")
    assert idle["update_ratio.decay_norm/idle"].tolist() == [0] * STEPS
    assert idle["update_ratio/idle"].tolist() == [0] * STEPS

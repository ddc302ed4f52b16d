"""What every intervention must keep: its window, its extent, its sham and its state."""

import copy
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np
from torch import Tensor

from ontogeny.catalogue import Intervention
from ontogeny.objectives import next_token
from ontogeny.record.digests import ModelDigest
from ontogeny.record.recipe import Recipe
from ontogeny.record.saving import join_tensors, load_optimizer_by_name, optimizer_by_name, split_tensors
from ontogeny.record.training import Training
from ontogeny.sources import TokenSource
from ontogeny.vocabulary import Draw, digest

#: What a tiny training is where a test says nothing else.
TINY = {
    "model": {"width": 16, "layers": 2, "heads": 2, "mlp_width": 16},
    "objective": {"name": "next_token", "batch": 4, "context": 12},
    "optimizer": {"name": "adamw", "lr": 0.01, "weight_decay": 0.1},
    "training": {"steps": 20},
}


def tiny_training(interventions: Sequence[Intervention] = (), **tables: Mapping[str, Any]) -> Training:
    """Twenty steps of a decoder of two layers on 2,000 tokens that count upwards; `tables` change it."""
    names = {*TINY, *tables}
    recipe = Recipe.from_document({name: {**TINY.get(name, {}), **tables.get(name, {})} for name in names})
    stream = (np.arange(2000) % 37).astype(np.uint16)
    source = TokenSource(
        name="counting",
        train=stream,
        heldout=stream[:200],
        vocabulary=40,
        counts=np.bincount(stream, minlength=40),
        hash="counting",
        corpus_hash="counting",
        split="the first 200 tokens again",
    )
    return Training(recipe, next_token(source, **recipe.objective.parameters), interventions)


MakeTraining = Callable[[list[Intervention]], Training]


@dataclass
class Followed:
    """What was seen of a training over some steps, and of the intervention in it.

    `calls` counts calls of functions of the intervention's own module and of ours beside it, `writes` its
    writes to weights, averages and gradients by their version counters, `changed` what of an extent it
    touched.
    """

    digests: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    changed: set[str] = field(default_factory=set)


def _parts(training: Training) -> dict[str, Any]:
    """A fingerprint of each part of the state that an intervention may change between two lines of a step."""
    optimizer = training.optimizer
    groups = [
        [[id(p) for p in group["params"]], {k: v for k, v in group.items() if not isinstance(v, dict | list)}]
        for group in optimizer.param_groups
    ]
    averages = [t for entry in optimizer.state.values() for t in entry.values() if isinstance(t, Tensor)]
    gradients = [p.grad for p in training.model.parameters() if p.grad is not None]
    return {
        "model": ModelDigest(training.model)(),
        "optimizer": (type(optimizer).__name__, repr(groups), digest(averages)),
        "schedule": repr(training.schedule.state_dict()),
        "counters": repr(training.state["counters"].state_dict()),
        "gradients": (len(gradients), digest(gradients)),
    }


def _watch(training: Training, made: Intervention, found: Followed) -> None:
    """Compare the state around every hook call of an intervention."""

    def around(hook: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            before, written = _parts(training), _versions(training)
            result = hook(*arguments)
            found.changed.update(name for name, seen in _parts(training).items() if seen != before[name])
            if isinstance(result, Draw) and result.identity != arguments[0].identity:
                found.changed.add("draw")
            after = _versions(training)
            found.writes.update({t: after[t] - written[t] for t in after.keys() & written.keys()})
            return result

        return call

    for name in ("edit_state", "on_draw", "on_loss", "on_gradients", "on_update"):
        if hasattr(made, name):
            setattr(made, name, around(getattr(made, name)))


def _versions(training: Training) -> dict[str, int]:
    versions = {}
    for name, parameter in training.model.named_parameters():
        held = {"": parameter, "/gradient": parameter.grad, **training.optimizer.state.get(parameter, {})}
        versions |= {f"{name}{k}": t._version for k, t in held.items() if isinstance(t, Tensor)}
    return versions


@contextmanager
def _counted(calls: Counter[str], module: str) -> Iterator[None]:
    """Counts calls of Python functions of one module, and of the package that ours share."""

    def count(frame: FrameType, event: str, argument: Any) -> None:
        home = str(frame.f_globals.get("__name__"))
        if event == "call" and (home == module or home.startswith("ontogeny.interventions.")):
            calls[f"{home}.{frame.f_code.co_qualname}"] += 1

    former = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(former)


def follow(make: MakeTraining, made: Intervention | None, steps: int) -> Followed:
    """Train some steps with an intervention, or without one, and watch."""
    training = make([] if made is None else [made])
    model_digest, found = ModelDigest(training.model), Followed()
    if made is not None:
        _watch(training, made, found)
    for _ in range(steps):
        with _counted(found.calls, type(made).__module__):
            found.losses.append(training.step().loss)
        training.state["counters"].step += 1
        found.digests.append(model_digest())
    if training.asked_to_stop():
        found.changed.add("stop")
    return found


def resumed(make: MakeTraining, fresh: Callable[[], Intervention], cut: int, steps: int) -> list[int]:
    """Digests of a run whose whole state went through a checkpoint's form after `cut` steps."""
    first, second = make([fresh()]), make([fresh()])
    digests = _digests(first, cut)
    saved = {name: held.state_dict() for name, held in first.state.items() if name != "optimizer"}
    tensors: dict[str, Tensor] = {}
    document = split_tensors(
        {**saved, "by_name": optimizer_by_name(first.optimizer, first.model)}, "", tensors
    )
    copies = {path: tensor.clone() for path, tensor in tensors.items()}
    whole = join_tensors(json.loads(json.dumps(document)), copies)
    second.model.load_state_dict(whole.pop("model"))
    load_optimizer_by_name(second.optimizer, second.model, whole.pop("by_name"))
    for name, state in whole.items():
        second.state[name].load_state_dict(state)
    return digests + _digests(second, steps - cut)


def _digests(training: Training, steps: int) -> list[int]:
    model_digest, found = ModelDigest(training.model), []
    for _ in range(steps):
        training.step()
        training.state["counters"].step += 1
        found.append(model_digest())
    return found


def check_intervention(make: MakeTraining, made: Intervention, steps: int = 6) -> Followed:
    """It acts inside its window and not before, on what it declares and nothing else; its sham changes no bit
    and takes the same path; its state survives a checkpoint in mid-window. `made` is left as it was.
    """
    start = made.window.start
    plain = follow(make, None, steps)
    real, sham = (follow(make, m, steps) for m in (copy.deepcopy(made), copy.deepcopy(made).sham()))
    assert sham.digests == plain.digests, "the sham changes the trajectory"
    assert "stop" not in sham.changed, "the sham stops the run"
    assert real.digests[:start] == plain.digests[:start], "it acts before its window"
    acts = real.digests[start:] != plain.digests[start:]
    assert acts or "stop" in real.changed, "it changes nothing"
    if repr(real.losses[start]) != repr(plain.losses[start]) and not real.changed & {"draw", "model"}:
        real.changed.add("forward")
    assert made.extent, "it declares no extent"
    undeclared = real.changed - made.extent
    assert not undeclared, f"it changes {', '.join(sorted(undeclared))}, which it does not declare"
    assert sham.calls == real.calls, f"the sham takes another path: {real.calls - sham.calls}"
    other = {name for name in real.writes if real.writes[name] != sham.writes[name]}
    assert not other, f"the sham writes {', '.join(sorted(other))} less or more often"
    cut = (start + min(steps, made.window.end or steps) + 1) // 2
    again = resumed(make, lambda: copy.deepcopy(made), cut, steps)
    assert again == real.digests, "its state does not survive a checkpoint"
    return real

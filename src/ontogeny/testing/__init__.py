"""Contract suites for parts, ours and outsiders': call them in a test of your own.

    from ontogeny.catalogue import part
    from ontogeny.testing import check_instrument

    def test_it_keeps_its_contract():
        check_instrument(part("instrument", "my_number"))

Each raises AssertionError with what was broken. `temporary_catalogue` lets a test declare parts that are
gone when it ends.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from ontogeny.catalogue import MEASURING, Objective, Part
from ontogeny.catalogue.part import _PARTS, load
from ontogeny.evidence import EVIDENCE
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.testing.degenerate import (
    CUTS,
    DISTORTIONS,
    broken_promises,
    check_degenerate,
    degenerate_rows,
)
from ontogeny.testing.detector_contract import check_detector, poor_series, series_with
from ontogeny.testing.intervention_contract import check_intervention, follow, resumed, tiny_training
from ontogeny.testing.online_contract import check_online, online_record
from ontogeny.testing.summary_contract import check_summary, course_of, rows_said, table_of, tiny_inputs
from ontogeny.testing.tiny import TinyFacts, measured_on, tiny_stimulus, tiny_subject, tiny_units
from ontogeny.vocabulary import Status, Stimulus, Streams

__all__ = [
    "CUTS",
    "DISTORTIONS",
    "TinyFacts",
    "broken_promises",
    "check_declaration",
    "check_degenerate",
    "check_detector",
    "check_instrument",
    "check_intervention",
    "check_objective",
    "check_online",
    "check_stimulus",
    "check_summary",
    "course_of",
    "degenerate_rows",
    "follow",
    "measured_on",
    "online_record",
    "poor_series",
    "resumed",
    "rows_said",
    "series_with",
    "table_of",
    "temporary_catalogue",
    "tiny_inputs",
    "tiny_stimulus",
    "tiny_subject",
    "tiny_training",
    "tiny_units",
]


@contextmanager
def temporary_catalogue() -> Iterator[None]:
    """Parts and evidence declared inside the block are forgotten after it."""
    load()
    parts, evidence = {k: dict(v) for k, v in _PARTS.items()}, {k: dict(v) for k, v in EVIDENCE.items()}
    try:
        yield
    finally:
        for kind, kept in parts.items():
            _PARTS[kind].clear()
            _PARTS[kind].update(kept)
        EVIDENCE.clear()
        EVIDENCE.update(evidence)


def check_declaration(made: Part) -> None:
    """It says what it means, in which unit, from where, how it misleads; its name is its file's name."""
    assert made.meaning, f"{made.name} has no meaning"
    assert made.source, f"{made.name} has no source"
    module = made.make.__module__.rsplit(".", 1)[-1]
    assert module == made.name, f"{made.name} lives in a file called {module}"
    if made.kind in MEASURING:
        assert made.unit or made.kind == "fit", f"{made.name} has no unit"
        assert made.said("Known"), f"{made.name} states no known value"
        assert made.said("Misleads"), f"{made.name} does not say how it misleads"


def check_instrument(made: Part) -> None:
    """It reads a plain subject, whatever the batch cut, and gives a status on one that is NaN throughout.

    An online one is held to `check_online`.
    """
    if made.online:
        check_online(made)
        return
    whole, cut = measured_on(tiny_subject(), made, batch=24), measured_on(tiny_subject(), made, batch=7)
    assert whole.rows, f"{made.name} gave no rows"
    assert any(row["status"] == Status.OK for row in whole.rows), (
        f"{made.name} reads nothing on a plain model"
    )
    for one, other in zip(whole.rows, cut.rows, strict=True):
        assert {k: v for k, v in one.items() if k not in ("value", "array")} == {
            k: v for k, v in other.items() if k not in ("value", "array")
        }, f"{made.name}: rows depend on the batch cut"
        if one["value"] is not None:
            close = math.isclose(one["value"], other["value"], rel_tol=1e-4, abs_tol=1e-6)
            assert close, f"{made.name} depends on the batch cut: {one['value']} and {other['value']}"
    broken = tiny_subject()
    for parameter in broken.model.parameters():
        parameter.data.fill_(math.nan)
    for row in measured_on(broken, made).rows:
        assert row["status"] in set(Status), f"{made.name} gave an unknown status {row['status']!r}"
        fine = row["value"] is not None and math.isfinite(row["value"])
        assert fine == (row["status"] == Status.OK), f"{made.name}: value {row['value']} is {row['status']}"
        assert row["status"] != Status.FAILED, f"{made.name} raised on NaN weights: {row['reason']}"


def check_stimulus(made: Part) -> None:
    """The same facts give the same stimulus; aims point at keys that exist."""
    one, other = made.make(TinyFacts()), made.make(TinyFacts())
    assert isinstance(one, Stimulus), f"{made.name} made nothing of the tiny data: {one}"
    assert one.hash == other.hash, f"{made.name} is not a pure function of its facts"
    sequences, length = one.shape
    assert one.weights.shape == one.tokens.shape
    assert float(one.weights[:, -1].abs().sum()) == 0, "the last position predicts nothing"
    positions = torch.arange(length)
    for name, aim in one.aims.items():
        targets = positions[None] - aim.lags[:, None]
        assert bool((targets[aim.queries] >= 0).all()), f"aim {name!r} points before the beginning"
        assert bool(aim.queries[aim.own].any(1).all()), f"aim {name!r}: a sequence has no query"
        assert aim.own.shape == (sequences,)
        assert aim.shuffled.shape[1] == sequences
        assert not bool((aim.shuffled == aim.own).any()), f"aim {name!r}: a false template is the true one"


def check_objective(make: Callable[[], Objective]) -> None:
    """Draws are pure, nothing touches global random numbers, losses and weights agree, held-out is fixed."""
    objective = make()
    model = Decoder(DecoderConfig(vocabulary=objective.vocabulary, context=objective.context, width=16))
    state: Any = {"model": model}
    before = (torch.get_rng_state(), np.random.get_state(legacy=True)[1].copy())  # pyright: ignore
    streams = Streams(3)
    draws = [objective.draw(5, streams.generator("data", 5)).identity for _ in range(2)]
    assert draws[0] == draws[1], "the same step drew differently"
    other = objective.draw(6, streams.generator("data", 6)).identity
    assert other != draws[0], "two steps drew the same"
    draw = objective.draw(5, streams.generator("data", 5))
    batches = [objective.batch(draw, state, streams.generator("sampling", 5)) for _ in range(2)]
    assert all(torch.equal(batches[0][key], batches[1][key]) for key in batches[0]), (
        "a batch is not repeatable"
    )
    losses = objective.loss(model, batches[0])
    assert losses.values.shape == losses.weights.shape
    assert bool((losses.weights >= 0).all())
    assert bool(torch.isfinite(losses.mean()))
    rows = [objective.facts().heldout(8, objective.context) for _ in range(2)]
    if rows[0] is not None and rows[1] is not None:
        assert torch.equal(rows[0][0], rows[1][0]), "held-out rows are not fixed"
    assert torch.equal(before[0], torch.get_rng_state()), "torch's global generator was used"
    assert np.array_equal(before[1], np.random.get_state(legacy=True)[1]), "NumPy's global generator was used"  # pyright: ignore

"""Patterns and heads of random models read as TransformerLens reads them, under the same definitions."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from ontogeny.catalogue import measuring_part
from ontogeny.measure.checkpoint import Unit, measure_checkpoint
from ontogeny.numerics.aims import exchanged, previous_aim
from ontogeny.subject import Subject
from ontogeny.vocabulary import Aim, Place, Stimulus

pytest.importorskip("transformers")
from drawn_models import FAMILIES, filled, repeated

FOUND: dict[str, Any] = json.loads((Path(__file__).with_name("transformer_lens_heads.json")).read_text())
PARTS = ("previous_token", "induction", "duplicate_token", "sink_mass", "attention_entropy", "head_dimension")
NUMBERS = {name: (name, "") for name in PARTS} | {
    "redundancy": ("head_redundancy", ""),
    "redundancy centred": ("head_redundancy", "centred"),
    "redundancy output": ("head_redundancy", "output"),
    "copying": ("copying", ""),
}


def stimulus() -> Stimulus:
    tokens, lags = repeated()
    rng = torch.Generator().manual_seed(0)
    choice = torch.arange(12, 16)
    positions, own = torch.arange(tokens.shape[1]), torch.tensor(lags) - 12
    queries = (positions >= choice[:, None]) & (positions < 2 * choice[:, None])
    aims = {
        "previous": previous_aim(*tokens.shape, rng),
        "successor": Aim(choice - 1, queries, own, exchanged(own, rng)),
        "duplicate": Aim(choice, queries & (positions > choice[:, None]), own, exchanged(own, rng)),
    }
    return Stimulus("made", torch.from_numpy(tokens), torch.zeros(tokens.shape), aims)


def measured(subject: Subject) -> dict[tuple[str, str], list[float]]:
    """Values by part and component, in the order of layers and heads."""
    names = {part for part, _ in NUMBERS.values()}
    units = [
        Unit(made, at, None if at == "head" else stimulus(), "" if at == "head" else "made")
        for made in map(measuring_part, sorted(names))
        for at in made.at
    ]
    found: dict[tuple[str, str], list[float]] = {}
    for row in measure_checkpoint(subject, units, lambda compared: {}).rows:
        found.setdefault((row["part"], row["component"]), []).append(row["value"])
    return found


def test_both_sides_make_the_same_tokens():
    tokens, lags = repeated()
    assert [" ".join(map(str, row)) for row in tokens] == FOUND["tokens"]
    assert lags == FOUND["lags"]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_head_reads_the_same(family):
    ours = measured(Subject(filled(family)))
    for name, expected in FOUND[family].items():
        if name != "last query":
            flat = [value for layer in expected for value in (layer if isinstance(layer, list) else [layer])]
            assert ours[NUMBERS[name]] == pytest.approx(flat, rel=1e-4, abs=1e-6), name


@pytest.mark.parametrize("family", FAMILIES)
def test_patterns_are_the_same(family):
    seen: dict[Place, torch.Tensor] = {}
    tokens = torch.from_numpy(repeated()[0])
    Subject(filled(family)).run(
        tokens, taps={"attention": lambda place, pattern: seen.update({place: pattern})}
    )
    for layer, expected in enumerate(FOUND[family]["last query"]):
        found = seen[Place(layer=layer)][0, :, -1]
        torch.testing.assert_close(found, torch.tensor(expected), rtol=1e-4, atol=1e-6)
        assert float(found.std()) > 0.01


def test_each_definition_was_compared():
    assert set(FOUND["llama"]) == {*NUMBERS, "last query"}

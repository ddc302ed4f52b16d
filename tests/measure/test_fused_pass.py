"""One pass serves everybody, and its numbers do not depend on how it was cut."""

import pytest
import torch

from ontogeny.catalogue import parts
from ontogeny.evidence import EVIDENCE, View
from ontogeny.measure.checkpoint import gather, measure_checkpoint
from ontogeny.measure.found import watchers_for
from ontogeny.measure.fused_pass import Watcher, fused_pass
from ontogeny.subject import Subject
from ontogeny.testing import tiny_subject, tiny_units
from ontogeny.testing.tiny import tiny_references
from ontogeny.vocabulary import Place


def all_units() -> list:
    return [
        unit
        for kind in ("instrument", "comparison")
        for made in parts(kind).values()
        for unit in tiny_units(made)
    ]


def measured(batch: int, **changes) -> list[dict]:
    """Rows of all parts; comparisons refer to the same weights at half the scale, or to several others."""
    changes = {"loops": 2, **changes}

    def refer(compared):
        names = compared[0].part.options["reference"]
        if isinstance(names, str):
            return gather(tiny_subject(init_scale=0.01, **changes), compared, batch)
        seeded = {name: tiny_subject(seed, **changes) for seed, name in enumerate(names, start=1)}
        return {name: gather(other, compared, batch) for name, other in seeded.items()}

    return measure_checkpoint(tiny_subject(**changes), all_units(), refer, batch).rows


@pytest.fixture(scope="module")
def whole() -> list[dict]:
    return measured(64)


@pytest.mark.parametrize("batch", [1, 7, 16])
def test_the_cut_does_not_matter(whole, batch):
    cut = measured(batch)
    assert len(cut) == len(whole) > 100
    assert "ok" in {row["status"] for row in whole}
    assert "failed" not in {row["status"] for row in whole}
    for one, other in zip(cut, whole, strict=True):
        assert {k: v for k, v in one.items() if k not in ("value", "array")} == {
            k: v for k, v in other.items() if k not in ("value", "array")
        }
        if one["value"] is not None:
            assert one["value"] == pytest.approx(other["value"], rel=1e-5, abs=1e-7), one


def test_the_same_cut_gives_the_same_bits(whole):
    assert measured(64) == whole


class Counting(Subject):
    """Counts how often the model runs."""

    runs = 0

    def run(self, tokens, *, taps=None):
        self.runs += 1
        return super().run(tokens, taps=taps)


def test_each_stimulus_is_run_once_for_all_parts():
    subject = Counting(tiny_subject().model)
    measure_checkpoint(subject, all_units(), lambda compared: gather(tiny_subject(), compared, 8), 8)
    sequences = {
        unit.stimulus_name: unit.stimulus.shape[0] for unit in all_units() if unit.stimulus is not None
    }
    assert set(sequences) == {"heldout", "repeated_tokens"}
    assert subject.runs == sum(-(-count // 8) for count in sequences.values())


def test_what_needs_no_pass_runs_none():
    subject = Counting(tiny_subject().model)
    units = [unit for unit in all_units() if unit.at == "matrix"]
    rows = measure_checkpoint(subject, units, lambda compared: gather(tiny_subject(), compared), 8).rows
    assert subject.runs == 0
    assert len({row["matrix"] for row in rows}) == 8


def test_evidence_many_need_is_reduced_once():
    units = all_units()
    names = [(w.name, w.at) for w in watchers_for((unit.part, unit.at) for unit in units)]
    assert len(names) == len(set(names))
    assert ("residual_gram", "residual") in names
    assert all(EVIDENCE[name][at].streamed for name, at in names)


def test_reducers_see_every_row_once_in_order_with_its_place():
    class Rows:
        def init(self, view: View):
            return []

        def update(self, state, view: View):
            assert view.tensor.shape[0] == view.rows.stop - view.rows.start
            return [*state, (view.place, view.rows.start, view.rows.stop)]

        def finish(self, state):
            return state

    stimulus = next(unit.stimulus for unit in all_units() if unit.stimulus_name == "heldout")
    found = fused_pass(
        tiny_subject(),
        stimulus,
        [Watcher("rows", at, Rows) for at in ("residual", "attention", "logits")],
        batch=10,
    )
    layers = [Place(layer=0), Place(layer=1)]
    assert set(found) == {
        *(("rows", at, place) for at in ("residual", "attention") for place in layers),
        ("rows", "logits", Place()),
    }
    for (_, _, place), state in found.items():
        assert state == [(place, 0, 10), (place, 10, 20), (place, 20, 24)]


def test_a_part_that_raises_is_a_status_and_the_others_go_on():
    from dataclasses import replace

    def broken(residual_norms):
        raise ZeroDivisionError("by design")

    units = all_units()
    spoilt = [
        replace(unit, part=replace(unit.part, make=broken)) if unit.part.name == "residual_norm" else unit
        for unit in units
    ]
    rows = measure_checkpoint(tiny_subject(), spoilt, tiny_references).rows
    failed = [row for row in rows if row["status"] == "failed"]
    assert {row["part"] for row in failed} == {"residual_norm"}
    assert {row["reason"] for row in failed} == {"ZeroDivisionError: by design"}
    assert any(row["status"] == "ok" for row in rows)


def test_what_a_part_reads_does_not_depend_on_who_else_looks():
    units = all_units()
    alone = [unit for unit in units if unit.part.name == "heldout_loss"]
    one = measure_checkpoint(tiny_subject(), alone, lambda compared: None).rows
    assert torch.isfinite(torch.tensor(one[0]["value"]))
    together = [row for row in measured(16, loops=1) if row["part"] == "heldout_loss"]
    assert together[0]["value"] == pytest.approx(one[0]["value"], rel=1e-6), (
        "fused and eager attention round apart"
    )

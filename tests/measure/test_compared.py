"""What comparisons refer to: one checkpoint, several, or another place of the same one."""

import pytest
import torch

from ontogeny.catalogue import comparison, part
from ontogeny.measure import measure
from ontogeny.measure.checkpoint import gather, measure_checkpoint
from ontogeny.measure.compared import referred
from ontogeny.numerics.similarity import debiased_cka
from ontogeny.record.recipe import Recipe
from ontogeny.record.train import train
from ontogeny.store.rows import read_rows
from ontogeny.store.run import Run
from ontogeny.subject import load_subject
from ontogeny.testing import temporary_catalogue, tiny_subject, tiny_units
from ontogeny.vocabulary import Reading, Several


@pytest.mark.parametrize(
    ("name", "index", "found"),
    [
        ("first", 3, 0),
        ("final", 3, 6),
        ("previous", 3, 2),
        ("previous", 0, None),
        ("previous-3", 3, 0),
        ("previous-4", 3, None),
        ("before", 3, 0),
        ("after", 3, 4),
        ("before", 1, 0),
        ("after", 1, 2),
        ("before", 0, None),
        ("after", 0, None),
        ("before", 5, 4),
        ("after", 5, 6),
        ("before", 6, None),
    ],
)
def test_names_of_references(name, index, found):
    assert referred(name, index, [0, 1, 2, 4, 8, 12, 16]) == found


def test_before_and_after_are_the_nearest_that_lie_equally_far():
    steps = [0, 10, 30, 40, 60, 70, 80]
    assert [referred(name, 3, steps) for name in ("before", "after")] == [1, 5]
    assert [referred(name, 4, steps) for name in ("before", "after")] == [3, 6]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    recipe = Recipe.from_document(
        {
            "model": {"width": 16, "layers": 3, "heads": 2},
            "objective": {"name": "copied_segments", "vocabulary": 12, "context": 16, "batch": 4}
            | {"shortest": 3, "longest": 6},
            "training": {"steps": 12},
            "recording": {"every": 4, "dense_until": 4, "samples": 0},
        }
    )
    return train(recipe, tmp_path_factory.mktemp("compared") / "run", grade=False)


def summed(step, run):
    parameters = load_subject(next(c for c in run.checkpoints if c.step == step).folder).parameters()
    return sum(float(parameter.double().sum()) for parameter in parameters.values())


def test_several_references_arrive_by_name_or_as_the_reason_why_not(run):
    with temporary_catalogue():

        @comparison(
            unit="weight", source="a test", reference=("before", "after", "first", "previous-2"), stimuli=()
        )
        def proof_several(parameters: Several):
            """Sums of all weights. Known: none.

            Known: nothing.
            Misleads: always.
            """
            gone = {name for name, there in parameters.there.items() if isinstance(there, Reading)}
            seen = {name: there for name, there in parameters.there.items() if name not in gone}
            sums = {
                name: sum(float(t.double().sum()) for t in there.values()) for name, there in seen.items()
            }
            here = sum(float(t.double().sum()) for t in parameters.here.values())
            return {"": here, **sums, **{name: parameters.there[name] for name in gone}}

        assert measure(run.path, ["proof_several"]) == 6
        assert measure(run.path, ["proof_several"]) == 0, "nothing is measured twice"
        table = Run.open(run.path).table("proof_several")
    steps = [0, 1, 2, 4, 8, 12]
    wanted = {
        "": dict(zip(steps, steps, strict=True)),
        "before": {1: 0, 2: 0, 4: 0, 8: 4},
        "after": {1: 2, 2: 4, 4: 8, 8: 12},
        "first": dict.fromkeys(steps, 0),
        "previous-2": {2: 0, 4: 1, 8: 2, 12: 4},
    }
    for component, by_step in wanted.items():
        rows = table[table["component"] == component].set_index("step")
        for step in steps:
            if step in by_step:
                assert rows.loc[step, "value"] == pytest.approx(summed(by_step[step], run), rel=1e-9)
            else:
                assert rows.loc[step, "status"] == "no-target"
                assert component in rows.loc[step, "reason"]
    hashes = {c.step: c.hash for c in run.checkpoints}
    rows = table[table["component"] == ""].set_index("step")["reference"]
    assert rows[8] == f"{hashes[4]} {hashes[12]} {hashes[0]} {hashes[2]}"
    assert rows[12] == f"- - {hashes[0]} {hashes[4]}"


@pytest.mark.slow
def test_the_number_of_workers_changes_no_number(run):
    keys = ["part", "component", "step", "layer", "matrix", "place_to"]
    tables = []
    for workers in (1, 2):
        home = run.path.parent / f"workers-{workers}"
        measure(run.path, ["displacement_cosine", "update_rank", "cka"], home=home, workers=workers)
        tables.append(read_rows(home).sort_values(keys)[[*keys, "value", "status"]].reset_index(drop=True))
    assert tables[0].equals(tables[1])


def test_layers_of_one_checkpoint_are_compared_two_by_two(run):
    measure(run.path, ["cka"])
    assert measure(run.path, ["cka"]) == 0
    table = Run.open(run.path).table("cka")
    between = table[table["component"] == "layers"]
    assert set(between["reference"]) == {"layers"}
    pairs = between[between["step"] == 12][["layer", "place_to"]].to_numpy().tolist()
    assert pairs == [[0, "layer 1"], [0, "layer 2"], [1, "layer 2"]]
    plain = Run.open(run.path).rows("cka")
    assert plain.dims == ("step", "layer")
    assert plain.sel(step=12).values == pytest.approx(1, abs=1e-9)
    labelled = Run.open(run.path).rows("cka", component="layers")
    assert labelled.dims == ("step", "layer", "place_to")


def test_a_comparison_of_layers_is_that_of_their_samples():
    made, subject = part("comparison", "cka"), tiny_subject()
    units = tiny_units(made)
    rows = measure_checkpoint(subject, units, lambda compared: gather(subject, compared)).rows
    (between,) = [row for row in rows if row["component"] == "layers"]
    found = gather(subject, units)
    first, second = (found.get("residual_sample", "residual", place) for place in found.places("residual"))
    assert between["value"] == pytest.approx(debiased_cka(first, second).value, rel=1e-12)
    assert not torch.equal(first, second)


def test_one_layer_has_no_other_and_that_is_said_once():
    made = part("comparison", "cka")
    rows = measure_checkpoint(
        tiny_subject(layers=1), tiny_units(made), lambda compared: gather(tiny_subject(layers=1), compared)
    ).rows
    (said,) = [row for row in rows if row["component"].startswith("layers")]
    assert said["status"] == "no-target"
    assert said["reference"] == "layers"

"""Runs held against each other: equal ones, two seeds, a changed copy, other architectures, groups."""

import json
import math
import shutil
import sys

import numpy as np
import pandas as pd
import pytest
import torch

from ontogeny.cli import main
from ontogeny.compare import compare
from ontogeny.errors import NotARun, NotObservable
from ontogeny.measure import measure
from ontogeny.record.train import train
from ontogeny.store.checkpoint import open_checkpoint, write_checkpoint
from ontogeny.store.run import Run
from ontogeny.subject import load_subject
from tiny_recipe import tiny

torch.set_num_threads(1)

TABLES = {
    "model": {"layers": 2},
    "training": {"steps": 8},
    "recording": {"every": 4, "dense_until": 4, "samples": 0},
}
STEPS = [0, 1, 2, 4, 8]


def trained(path, **tables) -> Run:
    changed = {name: {**TABLES.get(name, {}), **tables.get(name, {})} for name in TABLES | tables}
    return train(tiny(**changed), path, grade=False)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run, its repetition, another seed (all measured in part), a wider one; groups below them."""
    home = tmp_path_factory.mktemp("runs")
    for name, tables in {
        "one": {},
        "same": {},
        "seed": {"training": {"seed": 1}},
        "wide": {"model": {"width": 32}},
        "post": {"model": {"norm_place": "post"}},
        "rotated": {"model": {"rotary_base": 500.0}},
        "other": {"objective": {"vocabulary": 13}},
    }.items():
        trained(home / name, **tables)
    for name in ("one", "same", "seed"):
        measure(home / name, ["stable_rank", "previous_token", "induction"])
    return home


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    """Two learning rates, six seeds each, and a seventh seed of one of them."""
    home = tmp_path_factory.mktemp("groups")
    small = {"model": {"layers": 1}, "training": {"steps": 2}, "recording": {"dense_until": 2}}
    for name, rate, seeds in (("slow", 0.001, 6), ("fast", 0.01, 7)):
        for seed in range(seeds):
            training = {**small["training"], "seed": seed}
            trained(home / name / str(seed), **{**small, "training": training, "optimizer": {"lr": rate}})
        for seed in range(2):
            measure(home / name / str(seed), ["stable_rank"])
    return home


def test_a_run_and_its_repetition_differ_nowhere(runs):
    found = compare([runs / "one", runs / "same"])
    (line,) = found.divergence.to_dict("records")
    assert pd.isna(line["first_differing_step"])
    assert pd.isna(line["first_differing_checkpoint"])
    assert (line["common_steps"], line["common_checkpoints"]) == (9, 5)
    assert found.tensors.empty
    assert set(found.telemetry["metric"]) == {"loss", "heldout_loss"}
    assert (found.telemetry["difference"] == 0).all()
    assert set(found.rows["part"]) == {"stable_rank", "previous_token", "induction"}
    assert (found.rows["difference"].dropna() == 0).all()
    assert (found.distances[["distance", "relative"]] == 0).all(axis=None)
    own = found.similarity[(found.similarity["component"] == "") & (found.similarity["status"] == "ok")]
    assert set(own["part"]) == {"cka", "procrustes", "pwcca", "svcca"}
    expected = [0 if part == "procrustes" else 1 for part in own["part"]]
    assert own["value"].tolist() == pytest.approx(expected, abs=1e-6)
    assert found.barriers["barrier"].tolist() == [0, 0]
    assert found.left_out.empty
    assert found.reference == "one"
    assert found.runs["run"].tolist() == ["one", "same"]


def test_two_seeds_part_at_once(runs):
    found = compare([runs / "one", runs / "seed"], metrics=["gradient_norm"])
    (line,) = found.divergence.to_dict("records")
    assert line["first_differing_step"] == line["first_differing_checkpoint"] == 0
    assert set(found.tensors["what"]) == {"other bits"}
    assert "model.embed_tokens.weight" in set(found.tensors["tensor"])
    loss = found.telemetry[found.telemetry["metric"] == "loss"]
    assert loss["step"].tolist() == list(range(1, 9))
    mine, theirs = (Run.open(runs / name).telemetry("loss")["loss"] for name in ("seed", "one"))
    assert loss["difference"].tolist() == (mine - theirs).tolist()
    assert (found.telemetry["metric"] == "gradient_norm").sum() == 8
    assert np.isfinite(found.barriers["barrier"]).all()
    assert found.barriers["units"].tolist() == ["as they are", "aligned"]
    before, after = found.barriers["distance"]
    assert after < before
    plain, aligned = found.barriers["loss"]
    assert aligned == pytest.approx(plain, rel=1e-6), "alignment changes no function"
    assert "10 for 1 sd" in found.statement
    assert "at least 6" in found.statement


def test_distances_are_those_of_the_weights(runs):
    found = compare([runs / "one", runs / "seed"], passes=False)
    subjects = [load_subject(Run.open(runs / name).checkpoints[-1].folder) for name in ("one", "seed")]
    parameters = [{n: p.detach() for n, p in s.model.named_parameters()} for s in subjects]
    squares = [float((parameters[0][n] - parameters[1][n]).double().square().sum()) for n in parameters[0]]
    last = found.distances[found.distances["step"] == 8]
    whole = last[last["matrix"].isna()]
    assert whole["distance"].tolist() == pytest.approx([math.sqrt(sum(squares))])
    assert len(last) == 1 + len(subjects[0].matrices())
    up = last[(last["matrix"] == "mlp.up") & (last["layer"] == 1)]["distance"]
    name = "blocks.1.mlp.up.weight"
    assert up.tolist() == pytest.approx([float((parameters[0][name] - parameters[1][name]).norm())])
    assert found.similarity.empty
    assert found.barriers.empty
    assert "no model was to be run" in set(found.left_out["reason"])


def test_similarity_is_of_the_same_checkpoint(runs):
    found = compare([runs / "one", runs / "seed"]).similarity
    assert sorted(set(found["step"])) == STEPS
    assert set(found["layer"]) == {0, 1}
    assert set(found["part"]) == {"cka", "procrustes", "pwcca", "svcca"}
    cka = found[found["part"] == "cka"]
    assert set(cka["component"]) == {"", "biased"}
    assert cka["value"].between(-0.2, 1).all()
    assert cka["value"].min() < 0.9


def test_rows_meet_at_equal_steps_and_places(runs):
    found = compare([runs / "one", runs / "seed"], passes=False).rows
    assert not found.duplicated(
        ["part", "component", "layer", "head", "matrix", "stimulus_name", "step"]
    ).any()
    place = (found["part"] == "stable_rank") & (found["matrix"] == "mlp.up") & (found["layer"] == 0)
    assert found[place]["step"].tolist() == STEPS
    for name, column in (("seed", "value"), ("one", "reference_value")):
        own = Run.open(runs / name).table("stable_rank")
        own = own[(own["matrix"] == "mlp.up") & (own["layer"] == 0)]
        assert found[place][column].tolist() == own["value"].tolist()
    assert not found["component"].str.startswith("null:").any()


@pytest.fixture
def changed(runs, tmp_path):
    """A copy of the run whose checkpoint 4 has one other tensor, and is whole."""
    shutil.copytree(runs / "one", tmp_path / "changed", symlinks=True)
    folder = tmp_path / "changed" / "checkpoints" / "000004"
    opened = open_checkpoint(folder)
    tensors = {key: opened.tensors(key) for key in opened.manifest.tensors}
    tensors["model"]["model.layers.1.mlp.up_proj.weight"][3, 2] += 1
    documents = {
        name.removesuffix(".json"): json.loads((folder / name).read_text())
        for name in opened.manifest.files
        if name.endswith(".json")
    }
    shutil.rmtree(folder)
    write_checkpoint(folder, tensors=tensors, documents=documents, step=4, metadata={})
    return tmp_path / "changed"


def test_the_one_tensor_that_differs_is_named(runs, changed):
    found = compare([runs / "one", changed], passes=False)
    (line,) = found.divergence.to_dict("records")
    assert pd.isna(line["first_differing_step"]), "the journals are the same"
    assert line["first_differing_checkpoint"] == 4
    assert found.tensors.to_dict("records") == [
        {"run": "changed", "step": 4, "tensor": "model.layers.1.mlp.up_proj.weight", "what": "other bits"}
    ]
    apart = found.distances[found.distances["distance"] > 0]
    assert set(apart["step"]) == {4}
    assert set(apart["matrix"].dropna()) == {"mlp.up"}
    assert apart["distance"].tolist() == pytest.approx([1, 1])


def test_other_shapes_leave_out_what_needs_equal_ones(runs):
    found = compare([runs / "one", runs / "wide"])
    assert found.distances.empty
    assert found.barriers.empty
    assert "the architectures differ" in "".join(found.left_out["reason"])
    cka = found.similarity[found.similarity["part"] == "cka"]
    assert len(cka)
    assert cka["status"].eq("ok").all(), "CKA compares any two widths"
    assert len(found.telemetry)
    assert "nothing was measured on wide" in set(found.left_out["reason"])
    assert any(what.startswith("[") for what in found.tensors["what"])


def test_equal_shapes_of_another_function_have_distances_and_no_barrier(runs):
    found = compare([runs / "one", runs / "rotated"])
    assert len(found.distances) == 5 * 16
    assert found.barriers.empty
    assert "the models differ in rotary_base" in set(found.left_out["reason"])
    assert "absent" in "".join(compare([runs / "one", runs / "post"], passes=False).left_out["reason"])


def test_other_data_is_no_common_stimulus(runs):
    found = compare([runs / "one", runs / "other"])
    assert found.similarity.empty
    assert "different 'heldout' stimuli" in "".join(found.left_out["reason"])


def test_many_runs_are_held_against_the_first(runs):
    found = compare([runs / "one", runs / "same", runs / "seed"], passes=False)
    assert found.divergence["run"].tolist() == ["same", "seed"]
    assert found.divergence["first_differing_step"].isna().tolist() == [True, False]
    assert set(found.distances["run"]) == {"same", "seed"}


def test_a_folder_of_checkpoints_has_weights_and_no_telemetry(runs):
    found = compare([runs / "one", runs / "seed" / "checkpoints"])
    assert found.telemetry.empty
    assert "a folder of checkpoints has none" in set(found.left_out["reason"])
    assert len(found.distances)
    assert found.similarity.empty


def test_runs_without_a_common_step_are_refused(runs, tmp_path):
    late = tmp_path / "late"
    shutil.copytree(runs / "seed" / "checkpoints" / "000004", late / "step5", symlinks=True)
    (late / "step5" / "manifest.json").unlink()  # it knows better: this is step 4
    early = tmp_path / "one"
    shutil.copytree(runs / "one" / "checkpoints", early, symlinks=True)
    with pytest.raises(NotObservable, match=r"one and late have no step in common[\s\S]*steps 0 to 8"):
        compare([early, late])
    with pytest.raises(NotARun, match="nothing to compare with"):
        compare([runs / "one"])


def test_groups_are_paired_by_seed(groups):
    found = compare([groups / "slow", groups / "fast"], groups=True)
    loss = found.effects[found.effects["metric"] == "heldout_loss"]
    expected = []
    for seed in range(6):
        values = [Run.open(groups / g / str(seed)).telemetry("heldout_loss") for g in ("fast", "slow")]
        expected.append(np.subtract(*[frame["heldout_loss"].iloc[-1] for frame in values]))
    assert loss["effect"].tolist() == pytest.approx([np.mean(expected)])
    assert loss["n"].tolist() == [6]
    assert loss["interval"].tolist() == ["t"]
    half = 2.5706 * np.std(expected, ddof=1) / 6**0.5
    assert (loss["high"] - loss["low"]).tolist() == pytest.approx([2 * half], rel=1e-3)
    assert loss["p"].iloc[0] >= 2 / 2**6
    assert (found.effects["p_family"] >= found.effects["p"]).all()
    assert found.divergence["first_differing_step"].tolist() == [1] * 6, "a seed gives both one start"
    assert "its seed 6 has no partner" in set(found.left_out["reason"])
    assert set(found.effects["metric"].dropna()) == {"loss", "heldout_loss"}, "rows of two pairs of six"
    assert len(found.telemetry[found.telemetry["metric"] == "loss"]) == 12
    assert "6 pair(s) of seeds, exact sign-flip p" in found.statement


def test_two_pairs_give_effects_of_rows_and_no_p(groups, tmp_path):
    for name in ("slow", "fast"):
        for seed in range(2):
            shutil.copytree(groups / name / str(seed), tmp_path / name / str(seed), symlinks=True)
    found = compare([tmp_path / "slow", tmp_path / "fast"], groups=True)
    ranks = found.effects[found.effects["part"] == "stable_rank"]
    assert len(ranks) == 8 + 1
    assert ranks["n"].eq(2).all()
    assert found.effects["p"].isna().all()
    assert found.effects["p_reason"].str.contains("alpha 0.05 needs 6").all()
    assert (ranks["low"] <= ranks["effect"]).all()
    assert "too few for p" in found.statement


def test_one_run_a_group_gives_an_effect(groups):
    found = compare([groups / "slow" / "3", groups / "fast" / "3"], groups=True)
    assert found.effects["n"].eq(1).all()
    assert found.effects[["low", "high", "p", "p_family", "seeds_needed"]].isna().all(axis=None)
    assert found.effects["seeds_reason"].str.contains("10 at 1").all()


def test_groups_that_cannot_be_paired_are_refused(groups, runs, tmp_path):
    with pytest.raises(NotObservable, match="share no seed"):
        compare([groups / "slow" / "1", groups / "fast" / "2"], groups=True)
    with pytest.raises(NotObservable, match="cannot be paired by seed"):
        compare([groups / "slow", runs], groups=True)
    with pytest.raises(NotObservable, match="no recipe"):
        compare([groups / "slow", runs / "one" / "checkpoints"], groups=True)
    with pytest.raises(NotARun, match="nothing to be compared with"):
        compare([groups / "slow"], groups=True)


def test_a_group_of_several_recipes_is_said_to_mix_them(groups, runs, tmp_path):
    shutil.copytree(groups / "fast" / "0", tmp_path / "mixed" / "0", symlinks=True)
    shutil.copytree(groups / "slow" / "1", tmp_path / "mixed" / "1", symlinks=True)
    found = compare([groups / "slow", tmp_path / "mixed"], groups=True)
    assert found.statement.startswith("mixed mixes recipes")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("one", "same"), ("no differing step among 9", "loss barrier", "one run each")),
        (("one", "seed", "--no-passes"), ("first differing step 0", "tensors differ", "previous_token")),
        (("one", "wide", "--metrics", "nonsense"), ("the architectures differ", "not recorded by wide, one")),
    ],
)
def test_the_command_prints_what_was_found(runs, monkeypatch, capsys, words, said):
    monkeypatch.chdir(runs)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "argv", ["ontogeny", "compare", *words])
    with pytest.raises(SystemExit, match=r"^0$"):
        main()
    out = capsys.readouterr().out
    for words_said in said:
        assert words_said in out


def test_the_command_prints_groups_and_refuses_plainly(groups, monkeypatch, capsys):
    monkeypatch.chdir(groups)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "argv", ["ontogeny", "compare", "slow", "fast", "--groups"])
    with pytest.raises(SystemExit, match=r"^0$"):
        main()
    assert "paired differences over seeds" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["ontogeny", "compare", "slow/0"])
    with pytest.raises(SystemExit, match=r"^2$"):
        main()
    assert "allowed:  two or more runs" in capsys.readouterr().err

"""Whole folders of results, as people keep them."""

import json

import pytest

from ontogeny.bridges import read_evaluations
from ontogeny.errors import NotARun


def _write(path, value=0.5, **config):
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"results": {"piqa": {"acc,none": value, "acc_stderr,none": 0.01}}, "config": config}
    path.write_text(json.dumps(document))


def _steps(found):
    return {name: [one.step for one in members] for name, members in found.series().items()}


def test_the_step_in_the_files_name_and_in_numbers_order(tmp_path):
    for step in (1000, 2, 30):
        _write(tmp_path / "model" / "zero-shot" / f"70m_step{step}.json")
    assert _steps(read_evaluations(tmp_path)) == {"model/zero-shot": [2, 30, 1000]}


def test_the_step_in_a_folders_name_leaves_one_series_a_model(tmp_path):
    for model in ("a__70m", "a__160m"):
        for step in (1, 2):
            _write(tmp_path / f"{model}__step{step}" / "results_2024-05-01T12-33-10.123456.json")
    assert _steps(read_evaluations(tmp_path)) == {"a__160m__step#": [1, 2], "a__70m__step#": [1, 2]}


def test_the_step_in_the_models_arguments(tmp_path):
    for step in (5, 10):
        args = f"pretrained=a/b,revision=step{step}"
        _write(tmp_path / "a__b" / f"results_2024-05-0{step % 9}T12-33-10.1.json", model_args=args)
    found = read_evaluations(tmp_path)
    assert _steps(found) == {"a__b": [5, 10]}
    assert [one.stated_step for one in found.all] == [5, 10]


def test_two_models_in_one_folder_are_two_series(tmp_path):
    for name in ("long", "short"):
        _write(tmp_path / "x" / f"{name}_step1.json", model_args=f"pretrained={name}")
        _write(tmp_path / "x" / f"{name}_step2.json", model_args=f"pretrained={name}")
    assert _steps(read_evaluations(tmp_path)) == {"x [long_step#]": [1, 2], "x [short_step#]": [1, 2]}


def test_one_model_under_two_names_is_one_series_unless_steps_collide(tmp_path):
    for name, step in (("a", 1), ("b", 2)):
        _write(tmp_path / "x" / f"{name}_step{step}.json", model_args="pretrained=m")
    assert _steps(read_evaluations(tmp_path)) == {"x": [1, 2]}
    _write(tmp_path / "x" / "b_step1.json", model_args="pretrained=m")
    assert _steps(read_evaluations(tmp_path)) == {"x [a_step#]": [1], "x [b_step#]": [1, 2]}


def test_a_pattern_of_ones_own(tmp_path):
    for epoch in (1, 2):
        _write(tmp_path / f"step9-ep{epoch}.json")
    assert _steps(read_evaluations(tmp_path, "step9-ep{step}")) == {tmp_path.name: [1, 2]}


def test_a_hash_tells_copies_only_of_files_that_say_when_or_of_what_they_are(tmp_path):
    _write(tmp_path / "a_step1.json")
    _write(tmp_path / "a_step2.json", model_args="pretrained=m,revision=step2")
    assert [bool(one.digest) for one in read_evaluations(tmp_path).all] == [False, True]


def test_the_table_has_one_row_a_number(tmp_path):
    _write(tmp_path / "a_step1.json", 0.25)
    row = read_evaluations(tmp_path).table().iloc[0]
    assert (row["task"], row["metric"], row["value"], row["stderr"], row["step"]) == (
        "piqa",
        "acc",
        0.25,
        0.01,
        1,
    )


def test_other_files_are_passed_over_and_nothing_is_refused(tmp_path):
    (tmp_path / "config.json").write_text('{"results": 3}')
    (tmp_path / "broken.json").write_text('{"results": {')
    with pytest.raises(NotARun, match="no evaluation results"):
        read_evaluations(tmp_path)


def test_all_of_pythias_and_bigsciences_files_are_read(shared_data):
    found = read_evaluations(shared_data / "pythia-evals")
    assert all(one.step == one.stated_step for one in found.all)
    assert len(found.series()) == 29
    table = read_evaluations(shared_data / "bigscience").table()
    assert table.groupby("series")["step"].nunique().tolist() == [62, 66, 63, 34, 63]
    assert table["tokens"].notna().all()

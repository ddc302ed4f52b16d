"""Folders of checkpoints in the layouts that trainers leave."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from ontogeny.errors import NotARun
from ontogeny.series import Series


def steps(found: Series) -> list[int]:
    return [checkpoint.step for checkpoint in found.checkpoints]


@pytest.mark.parametrize(
    "form",
    ["checkpoint-{}", "step{}", "iter_{:06d}", "global_step{}", "epoch1-step{}", "{}", "run-step_{}-x"],
)
def test_folders_by_number_not_by_name(tmp_path, bare, form):
    for step in (1000, 5, 20, 0):
        bare(tmp_path / form.format(step))
    assert steps(Series.open(tmp_path)) == [0, 5, 20, 1000]


@pytest.mark.parametrize("form", ["ckpt_{}.pt", "model{}.bin", "epoch=0-step={}.ckpt"])
def test_files_that_torch_saved(tmp_path, form):
    for step in (500, 60, 7):
        torch.save({"w": torch.ones(2)}, tmp_path / form.format(step))
    (tmp_path / "log12.txt").write_text("not a checkpoint")
    found = Series.open(tmp_path)
    assert steps(found) == [7, 60, 500]
    assert found.checkpoints[0].path.is_file()
    assert found.notes == ()


def test_one_file_is_a_series_with_rows_beside_it(tmp_path):
    torch.save({"w": torch.ones(2)}, tmp_path / "ckpt_500.pt")
    found = Series.open(tmp_path / "ckpt_500.pt")
    assert steps(found) == [500]
    assert found.home == tmp_path / "ckpt_500.pt.ontogeny"
    assert steps(Series.open(tmp_path / "ckpt_500.pt", pattern="ckpt_{step}.pt")) == [500]
    with pytest.raises(NotARun, match="nothing matches"):
        Series.open(tmp_path / "ckpt_500.pt", pattern="step{step}")


@pytest.mark.parametrize(
    ("name", "step"), [("stories260K", 0), ("SmolLM2-135M", 0), ("final", 0), ("000400", 400), ("step7", 7)]
)
def test_a_folder_with_one_model_is_a_series_of_one(tmp_path, bare, name, step):
    bare(tmp_path / name)
    found = Series.open(tmp_path)
    assert steps(found) == [step]
    assert any("taken as step 0" in note for note in found.notes) is (step == 0)


@pytest.mark.parametrize(("name", "step"), [("stories260k", 0), ("babyllama-tok105", 5000)])
def test_models_of_others_among_their_other_files(shared_data, name, step):
    assert steps(Series.open(shared_data / name)) == [step]


def test_a_model_with_another_in_a_subfolder_is_a_series_of_one(tmp_path, bare):
    bare(tmp_path / "step9")
    bare(tmp_path / "step9" / "converted")
    found = Series.open(tmp_path / "step9")
    assert steps(found) == [9]
    assert found.checkpoints[0].path == tmp_path / "step9"
    assert [note.split(" is ")[0] for note in found.notes] == ["converted"]


def test_checkpoints_one_folder_down(tmp_path, bare):
    for step in (1, 2):
        bare(tmp_path / "checkpoints" / f"step_{step}")
    (tmp_path / "logs").mkdir()
    assert steps(Series.open(tmp_path)) == [1, 2]


def test_a_pattern_reaches_as_deep_as_its_slashes(tmp_path, bare):
    for step in (100, 20):
        bare(tmp_path / str(step) / "hf")
        bare(tmp_path / str(step) / "ema")
    assert steps(Series.open(tmp_path, pattern="{step}/hf")) == [20, 100]


def test_units_count_only_where_a_pattern_says_so(tmp_path, bare):
    for name in ("step500", "step1k", "step2k"):
        bare(tmp_path / name)
    with pytest.raises(NotARun, match=r"step1k gives no step[\s\S]*--pattern"):
        Series.open(tmp_path)
    assert steps(Series.open(tmp_path, pattern="step{step}{step_unit}")) == [500, 1000, 2000]


def test_names_in_tokens(tmp_path, bare):
    for name in ("1B tokens", "0.5B tokens"):
        bare(tmp_path / name)
    found = Series.open(tmp_path, pattern="{tokens}B tokens")
    assert steps(found) == [500_000_000, 1_000_000_000]
    assert [c.tokens for c in found.checkpoints] == [5e8, 1e9]
    assert any("counts tokens" in note for note in found.notes)


def test_tokens_in_names_beside_steps(tmp_path, bare):
    bare(tmp_path / "stage1-step1000-tokens5B")
    bare(tmp_path / "stage2-step1000-tokens7B")
    with pytest.raises(NotARun, match=r"step 1000[\s\S]*stage1-step1000-tokens5B, stage2-step1000"):
        Series.open(tmp_path)
    found = Series.open(tmp_path, pattern="stage2-step{step}-tokens{tokens}B", tokens=10)
    assert [(c.step, c.tokens) for c in found.checkpoints] == [(1000, 7e9)]


def test_f02_the_step_is_what_the_trainer_counted_not_the_name(tmp_path, bare):
    """A resume with accumulation 4 counted micro-batches in the names; ten steps were taken each time."""
    for name, counted in (("checkpoint-10", 10), ("checkpoint-40", 20), ("checkpoint-80", 30)):
        bare(tmp_path / name)
        (tmp_path / name / "trainer_state.json").write_text(json.dumps({"global_step": counted}))
    found = Series.open(tmp_path)
    assert steps(found) == [10, 20, 30]
    assert len(found.notes) == 2
    assert "checkpoint-40 is taken as step 20" in found.notes[0]


def test_f02_a_jump_of_the_steps_is_noted(tmp_path, bare):
    for step in (0, 10, 20, 80, 90):
        bare(tmp_path / f"checkpoint-{step}")
    (note,) = Series.open(tmp_path).notes
    assert "from 20 to 80" in note


def test_real_trainers_count(tmp_path, bare, shared_data):
    for folder in (shared_data / "hf-trainer-state" / "lora-translator").glob("checkpoint-*"):
        copy = bare(tmp_path / folder.name.replace("checkpoint", "save"))
        shutil.copy(folder / "trainer_state.json", copy)
    found = Series.open(tmp_path)
    assert steps(found) == [500, 2000, 5000, 8500]


def test_a_final_model_is_taken_in_where_its_step_is_known(tmp_path, bare):
    for step in (5, 10):
        bare(tmp_path / f"checkpoint-{step}")
    final = bare(tmp_path / "final")
    assert steps(found := Series.open(tmp_path)) == [5, 10]
    assert any("final is left out" in note for note in found.notes)
    (final / "trainer_state.json").write_text('{"global_step": 12, "num_input_tokens_seen": 4800}')
    found = Series.open(tmp_path)
    assert steps(found) == [5, 10, 12]
    assert found.at(12).tokens == 4800
    (final / "trainer_state.json").write_text('{"global_step": 10}')
    found = Series.open(tmp_path)
    assert steps(found) == [5, 10]
    assert found.at(10).label == "checkpoint-10"
    assert any("final is left out: it is step 10, as checkpoint-10 is" in note for note in found.notes)


def test_rows_of_an_earlier_measurement_are_no_checkpoint(tmp_path, bare):
    bare(tmp_path / "step1")
    bare(tmp_path / "ontogeny" / "step2")
    assert steps(Series.open(tmp_path)) == [1]
    assert steps(Series.open(tmp_path, pattern="*step{step}")) == [1]


def test_a_pattern_that_matches_nothing_says_so(tmp_path, bare):
    bare(tmp_path / "step1")
    with pytest.raises(NotARun, match=r"nothing matches 'iter\{step\}'"):
        Series.open(tmp_path, pattern="iter{step}")


def test_a_folder_that_may_not_be_read(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(NotARun, match=r"cannot be read[\s\S]*Permission denied"):
        Series.open(tmp_path)

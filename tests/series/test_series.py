"""Checkpoints in their order, whoever wrote them."""

import json

import pytest
import torch
from safetensors.torch import save_file

from ontogeny.errors import NotARun
from ontogeny.series import Series
from ontogeny.store.checkpoint import write_checkpoint
from ontogeny.store.run import Run


def checkpoint(folder, value: float = 1.0, name: str = "model.safetensors"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
    save_file({"weight": torch.full((3,), value)}, folder / name)
    return folder


def test_the_step_is_the_last_number_of_a_folders_name(tmp_path):
    for name in ("checkpoint-10", "checkpoint-200", "step1000", "epoch3-step50", "start"):
        checkpoint(tmp_path / name)
    (tmp_path / "logs7").mkdir()
    (tmp_path / "notes8.txt").write_text("no folder")
    found = Series.open(tmp_path)
    assert [c.step for c in found.checkpoints] == [0, 10, 50, 200, 1000]
    assert found.at(200).path.name == "checkpoint-200"
    assert found.home == tmp_path / "ontogeny"
    assert found.run is None
    assert found.name == tmp_path.name


def test_a_folder_that_is_a_checkpoint_is_a_series_of_one(tmp_path):
    found = Series.open(checkpoint(tmp_path / "step1000"))
    assert [c.step for c in found.checkpoints] == [1000]


def test_what_a_trainer_saved_on_top_is_not_the_whole_series(tmp_path):
    checkpoint(tmp_path)
    for step in (5, 10):
        checkpoint(tmp_path / f"checkpoint-{step}")
    assert [c.step for c in Series.open(tmp_path).checkpoints] == [5, 10]


def test_two_folders_of_one_step_are_refused(tmp_path):
    for name in ("a-step5", "b-step5"):
        checkpoint(tmp_path / name)
    with pytest.raises(NotARun, match=r"step 5[\s\S]*a-step5, b-step5"):
        Series.open(tmp_path)


def test_what_is_nothing_says_what_it_lacks(tmp_path):
    for path, said in ((tmp_path, "0 entries"), (tmp_path / "nowhere", "no such folder or file")):
        with pytest.raises(NotARun, match=said) as caught:
            Series.open(path)
        assert "transformers" in str(caught.value)
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotARun):
        Series.open(tmp_path / "file")


def test_a_step_that_is_not_there_names_the_nearest(tmp_path):
    for step in (0, 10, 20, 500):
        checkpoint(tmp_path / f"step{step}")
    with pytest.raises(NotARun, match=r"no checkpoint at step 14[\s\S]*\[10, 20, 0\]"):
        Series.open(tmp_path).at(14)


def test_hashes_are_of_weights_and_configuration(tmp_path):
    for step, value in ((1, 1.0), (2, 1.0), (3, 2.0)):
        checkpoint(tmp_path / f"step{step}", value)
    (tmp_path / "step2" / "trainer_state.json").write_text("{}")
    one, same, other = (c.hash for c in Series.open(tmp_path).checkpoints)
    assert one == same != other
    (tmp_path / "step1" / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    assert Series.open(tmp_path).at(1).hash != one


def test_a_run_is_its_own_series(tmp_path):
    run = Run.create(tmp_path / "run", {})
    for step in (4, 0, 12):
        write_checkpoint(
            run.path / "checkpoints" / f"{step:06d}",
            tensors={"model": {"w": torch.full((2,), float(step))}},
            documents={},
            step=step,
            metadata={},
        )
    (run.path / "checkpoints" / ".000020.half.temporary").mkdir()
    found = Series.open(run.path)
    assert [c.step for c in found.checkpoints] == [0, 4, 12]
    assert [c.hash for c in found.checkpoints] == [c.hash for c in run.checkpoints]
    assert (found.id, found.home) == (run.id, run.path)
    assert Series.open(run.path, tmp_path / "rows").home == tmp_path / "rows"


def test_a_foreign_series_has_an_identity_of_its_own(tmp_path):
    ids = []
    for name in ("one", "two"):
        checkpoint(tmp_path / name / "step1")
        ids += [Series.open(tmp_path / name).id for _ in range(2)]
    assert ids[0] == ids[1] != ids[2] == ids[3]
    assert all(len(id) == 8 for id in ids)

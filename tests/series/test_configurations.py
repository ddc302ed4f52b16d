"""Folders that mix models."""

import json

from ontogeny.series import Series
from small_checkpoints import save_model


def configure(folder, **changes) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_one_model_whatever_wrote_it_is_no_news(tmp_path):
    for step in (1, 2, 3):
        configure(save_model(tmp_path / f"step{step}", step), transformers_version=f"4.{step}")
    assert Series.open(tmp_path).notes == ()


def test_several_models_are_noted_with_their_steps(tmp_path):
    for step in (1, 2, 3):
        save_model(tmp_path / f"step{step}", step)
    configure(tmp_path / "step3", hidden_act="gelu")
    (note,) = Series.open(tmp_path).notes
    assert "2 configurations, at steps 1 to 2; 3" in note


def test_what_is_no_json_is_left_to_whoever_loads_it(tmp_path):
    for step in (1, 2):
        save_model(tmp_path / f"step{step}", step)
    (tmp_path / "step2" / "config.json").write_text("{")
    assert Series.open(tmp_path).notes == ()

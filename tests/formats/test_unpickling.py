"""Where the model is in what training loops save, and what else is kept."""

import pytest
import torch

from ontogeny.errors import OntogenyError
from ontogeny.formats.unpickling import MODEL_KEYS, load_pickles, model_state, plain

STATE = {"a": torch.ones(2)}


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_model_is_found_under_the_usual_keys(key):
    assert model_state({"epoch": 1, key: STATE, "optimizer": {"b": torch.ones(1)}}) == (STATE, key)


def test_a_bare_state_dict_is_the_model():
    assert model_state(STATE) == (STATE, "")
    bare = {"model.weight": torch.ones(1), "model": torch.ones(2)}
    assert model_state(bare) == (bare, ""), "a tensor called model is no state dict"


def test_what_holds_no_tensors_is_no_model():
    for payload in ({"epoch": 1}, [torch.ones(1)], torch.ones(2), {"model": {"epoch": 1}}):
        with pytest.raises(OntogenyError, match="no model"):
            model_state(payload)


def test_plain_values_are_kept_and_nothing_else():
    kept = plain(
        {"n": 1, "t": torch.tensor(2.5), "big": torch.ones(9), "deep": {"a": [1, "x"]}, "f": print, 3: True}
    )
    assert kept == {"n": 1, "t": 2.5, "deep": {"a": [1, "x"]}, "3": True}


def test_parts_of_one_model_are_put_together(tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "1.bin")
    torch.save({"b": torch.ones(2), "_extra_state": {"x": 1}}, tmp_path / "2.bin")
    state, _, notes = load_pickles([tmp_path / "1.bin", tmp_path / "2.bin"])
    assert set(state) == {"a", "b"}
    assert notes == ["no tensors, left out: _extra_state"]

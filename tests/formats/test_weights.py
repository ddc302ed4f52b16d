"""What can be known of weights without reading them, and with."""

import torch

from foreign_folders import decoder, foreign_folder
from ontogeny import formats
from ontogeny.formats import Weights
from ontogeny.vocabulary import digest


def test_shapes_dtypes_and_counts_cost_no_reading(tmp_path, monkeypatch):
    tensors = foreign_folder(tmp_path / "a", decoder())
    weights = formats.read(tmp_path / "a")
    monkeypatch.setattr("ontogeny.formats.weights.read_tensor", None)
    assert weights.shapes == {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    assert set(weights.dtypes.values()) == {torch.float32}
    assert weights.parameters == sum(parameter.numel() for parameter in decoder().parameters())


def test_a_tensor_is_read_when_it_is_asked_for_and_shares_nothing(tmp_path):
    tensors = foreign_folder(tmp_path / "a", decoder())
    weights = formats.read(tmp_path / "a")
    first = weights.tensors["model.norm.weight"]
    first.zero_()
    assert torch.equal(weights.tensors["model.norm.weight"], tensors["model.norm.weight"])


def test_hashes_are_of_bits_and_names():
    one = Weights({"a": torch.zeros(2), "b": torch.ones(2)})
    assert one.hashes["a"] == f"{digest([torch.zeros(2)]):016x}"
    assert one.hash == Weights({"b": torch.ones(2), "a": torch.zeros(2)}).hash
    for other in ({"a": -torch.zeros(2), "b": torch.ones(2)}, {"b": torch.zeros(2), "a": torch.ones(2)}):
        assert Weights(other).hash != one.hash
    assert Weights({"a": torch.zeros(2).half(), "b": torch.ones(2)}).hash != one.hash


def test_notes_are_added():
    weights = Weights({}, notes=("one",)).noted("two")
    assert weights.notes == ("one", "two")

"""Weights by name."""

import torch

from ontogeny.catalogue import part
from ontogeny.evidence.weights import of_all, of_matrix
from ontogeny.measure.checkpoint import Unit, gather
from ontogeny.testing import tiny_subject
from ontogeny.vocabulary import Place


def test_a_matrix_has_no_name_and_all_parameters_have_theirs():
    matrix = torch.ones(2, 3)
    assert of_matrix(matrix)[""] is matrix
    assert of_all({"a": matrix})["a"] is matrix


def test_of_a_model_they_are_all_parameters_and_outlive_it():
    subject, made = tiny_subject(), part("comparison", "distance_from_start")
    found = gather(subject, [Unit(made, at, None) for at in ("matrix", "model")])
    everything = found.get("weights", "model", Place())
    assert set(everything) == {name for name, _ in subject.model.named_parameters()}
    assert any(tensor.ndim == 1 for tensor in everything.values())
    before = {name: tensor.clone() for name, tensor in everything.items()}
    for parameter in subject.model.parameters():
        parameter.data.zero_()
    assert all(torch.equal(everything[name], before[name]) for name in before)
    for place in found.places("matrix"):
        matrix = found.get("weights", "matrix", place)[""]
        assert any(matrix is tensor for tensor in everything.values()), "each tensor is copied once"

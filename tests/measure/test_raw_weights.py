"""Weights that parts may ask for without a pass."""

import copy

import pytest
import torch

from ontogeny.catalogue import instrument
from ontogeny.evidence import RAW
from ontogeny.measure.raw_weights import raw_weights
from ontogeny.subject import Subject
from ontogeny.testing import measured_on, temporary_catalogue, tiny_subject
from ontogeny.vocabulary import Place, Status
from tiny_families import tiny


def test_what_is_offered_is_what_may_be_needed():
    subject = tiny_subject()
    found = raw_weights(subject, set(RAW.values()))
    offered = {(name, at) for name, at, _ in found}
    assert offered == {(name, at) for name, at in RAW.items() if at != "parameter"}
    assert raw_weights(subject, {"residual"}) == {}


def test_heads_are_placed_by_layer_and_head():
    subject = tiny_subject(kv_heads=2)
    found = raw_weights(subject, {"head"})
    assert {place for _, _, place in found} == {Place(layer=k, head=h) for k in (0, 1) for h in range(4)}
    last, attention = Place(layer=1, head=3), subject.model.blocks[1].attention
    size = subject.anatomy.head_dim
    assert torch.equal(found["head_query", "head", last], attention.query.weight[3 * size :])
    assert torch.equal(found["head_key", "head", last], attention.key.weight[size:])
    assert torch.equal(found["head_output_weight", "head", last], attention.output.weight[:, 3 * size :])


def test_the_readout_is_in_one_place():
    subject = tiny_subject(tied=False)
    found = raw_weights(subject, {"readout"})
    assert torch.equal(found["embedding_weight", "readout", Place()], subject.model.embedding.weight)
    assert torch.equal(found["unembedding_weight", "readout", Place()], subject.model.unembedding.weight)
    assert torch.equal(found["final_norm_gain", "readout", Place()], subject.model.final_norm.weight)


def test_what_a_model_does_not_have_is_missing():
    assert ("final_norm_gain", "readout", Place()) not in raw_weights(
        tiny_subject(norm_place="post"), {"readout"}
    )
    bare = Subject(torch.nn.Linear(3, 2))
    assert raw_weights(bare, {"head", "readout"}) == {}
    assert set(raw_weights(bare, {"matrix", "model"})) == {
        ("weight", "matrix", Place(matrix="weight")),
        ("parameters", "model", Place()),
    }


def test_they_are_copies_that_outlive_the_next_checkpoint():
    subject = tiny_subject()
    found = raw_weights(subject, {"head", "readout", "matrix", "head_output"})
    kept = copy.deepcopy(found)
    for parameter in subject.model.parameters():
        parameter.data.zero_()
    for key, weight in found.items():
        for one, other in zip(tensors(weight), tensors(kept[key]), strict=True):
            assert torch.equal(one, other), key


def tensors(weight) -> list[torch.Tensor]:
    """The tensors of what is offered: one, a tuple of them, or an object that holds them."""
    if isinstance(weight, torch.Tensor):
        return [weight]
    held = weight if isinstance(weight, tuple) else vars(weight).values()
    return [part for part in held if isinstance(part, torch.Tensor)]


def test_parts_may_ask_for_them_at_their_sites():
    with temporary_catalogue():

        @instrument(unit="1", source="test")
        def copying_strength(head_value: torch.Tensor, head_output_weight: torch.Tensor) -> torch.Tensor:
            """Trace of what a head moves.

            Known: zero for zero weights.
            Misleads: it is no norm.
            """
            return (head_output_weight @ head_value).diagonal().sum()

        @instrument(unit="1", source="test")
        def gain(final_norm_gain: torch.Tensor) -> torch.Tensor:
            """Its mean.

            Known: 1 at the start.
            Misleads: it is a mean.
            """
            return final_norm_gain.mean()

        from ontogeny.catalogue import part

        rows = measured_on(tiny_subject(), part("instrument", "copying_strength")).rows
        assert [(row["layer"], row["head"]) for row in rows] == [(k, h) for k in (0, 1) for h in range(4)]
        assert {row["status"] for row in rows} == {Status.OK}
        (row,) = measured_on(tiny_subject(), part("instrument", "gain")).rows
        assert row["value"] == 1
        (row,) = measured_on(tiny_subject(norm_place="post"), part("instrument", "gain")).rows
        assert row["status"] == Status.NOT_OBSERVABLE


def test_experts_say_why_their_neurons_are_not_seen():
    pytest.importorskip("transformers")
    subject = Subject(tiny("mixtral"))
    assert ("head_value", "head", Place(layer=1, head=3)) in raw_weights(subject, {"head"})
    assert "experts" in subject.anatomy.why_not("mlp_activation")

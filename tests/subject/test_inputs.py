"""Masks, positions and documents: given as they are, or refused."""

import pytest
import torch

from ontogeny.errors import BadContract, NotObservable
from ontogeny.subject import Subject
from ontogeny.subject.inputs import document_positions
from ontogeny.testing import tiny_subject
from tiny_families import FAMILIES, tiny, tokens

pytest.importorskip("transformers")
CLOSE = {"atol": 2e-5, "rtol": 1e-5}


def padded(given: torch.Tensor, by: int, left: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens with `by` more beside them, and the mask that says so."""
    pad = torch.full((given.shape[0], by), 3)
    ones = torch.ones_like(given)
    both, mask = [pad, given], [pad * 0, ones]
    return tuple(torch.cat(part if left else part[::-1], 1) for part in (both, mask))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("left", [True, False], ids=["left", "right"])
@pytest.mark.parametrize("taps", [{}, {"attention": lambda place, x: None}], ids=["plain", "patterns"])
def test_padding_changes_nothing(family, left, taps):
    subject = Subject(tiny(family))
    given, mask = padded(tokens(2, 12), 4, left)
    found = subject.run(given, mask=mask, taps=taps)
    found = found[:, 4:] if left else found[:, :12]
    torch.testing.assert_close(found, subject.run(tokens(2, 12)), **CLOSE)


def test_padding_is_told_by_the_mask_alone():
    subject = Subject(tiny("gpt2"))
    given, mask = padded(tokens(2, 12), 4, left=True)
    unmasked = subject.run(given)[:, 4:]
    assert (unmasked - subject.run(given, mask=mask)[:, 4:]).abs().max() > 0.1


def test_our_decoder_refuses_padding_before_tokens():
    subject = tiny_subject(vocabulary=61)
    given, mask = padded(tokens(2, 12), 4, left=False)
    assert torch.equal(subject.run(given, mask=mask), subject.run(given))
    given, mask = padded(tokens(2, 12), 4, left=True)
    with pytest.raises(NotObservable, match="no mask for padding"):
        subject.run(given, mask=mask)


def test_a_model_without_position_ids_refuses_padding():
    subject = Subject(tiny("bloom"))
    given, mask = padded(tokens(2, 12), 4, left=True)
    with pytest.raises(NotObservable, match="takes no position ids"):
        subject.run(given, mask=mask)


@pytest.mark.parametrize("mask", [torch.ones(3, 23), torch.full((3, 24), 0.5)], ids=["shape", "values"])
def test_a_mask_that_is_none_is_refused(mask):
    with pytest.raises(BadContract, match="does not fit the tokens"):
        Subject(tiny("llama")).run(tokens(), mask=mask)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_positions_are_given_as_they_are(family):
    subject = Subject(tiny(family))
    plain = subject.run(tokens())
    ids = torch.arange(24).expand(3, 24)
    torch.testing.assert_close(subject.run(tokens(), positions=ids), plain, **CLOSE)
    moved = subject.run(tokens(), positions=ids + 5)
    if family == "llama":  # rotations depend on distances only
        torch.testing.assert_close(moved, plain, **CLOSE)
    else:
        assert (moved - plain).abs().max() > 0.01


def test_positions_of_our_decoder_too():
    subject = tiny_subject(vocabulary=61, positions="learned")
    ids = torch.arange(24).expand(3, 24)
    assert torch.equal(subject.run(tokens(), positions=ids), subject.run(tokens()))
    assert not torch.equal(subject.run(tokens(), positions=ids + 5), subject.run(tokens()))


def test_document_positions_count_from_zero_in_each():
    documents = torch.tensor([[0, 0, 0, 1, 1, 2], [5, 5, 4, 4, 4, 4]])
    assert document_positions(documents).tolist() == [[0, 1, 2, 0, 1, 0], [0, 1, 0, 1, 2, 3]]

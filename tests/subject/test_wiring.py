"""From sites to modules: which are watched, how often they are called, what is refused."""

import pytest
import torch

from ontogeny.errors import NotObservable, UnknownName
from ontogeny.subject.wiring import wired
from ontogeny.testing import tiny_subject
from ontogeny.vocabulary import Place


def tap(place, tensor):
    return None


def test_wires_are_in_the_order_of_taps_and_layers():
    subject = tiny_subject()
    wiring = wired(subject.model, subject.anatomy, {"mlp_output": tap, "residual": tap, "attention": tap})
    paths = [wire.watch.where for wire in wiring.wires]
    assert paths == ["blocks.0.mlp", "blocks.1.mlp", "blocks.0", "blocks.1"]
    assert [module is b.attention for module, b in zip(wiring.attention, subject.model.blocks, strict=True)]
    assert len(wiring.counted) == 6


def test_several_sites_of_attention_share_its_call():
    subject = tiny_subject()
    wiring = wired(subject.model, subject.anatomy, {"query": tap, "attention": tap})
    assert not wiring.wires
    assert [set(watches) for watches in wiring.attention.values()] == [{"query", "attention"}] * 2


@pytest.mark.parametrize(
    ("changes", "embedding", "final"),
    [
        ({}, [Place()], [Place()]),
        ({"loops": 3}, [Place(), None, None], [Place()]),
        ({"loops": 2, "norm_place": "post"}, [Place(), None], [None, Place()]),
    ],
)
def test_a_block_that_is_called_again_shows_the_stream_once(changes, embedding, final):
    subject = tiny_subject(**changes)
    wires = wired(subject.model, subject.anatomy, {"embedding": tap, "final_state": tap}).wires
    assert [list(wire.watch.places) for wire in wires] == [embedding, final]


def test_a_looped_decoder_shows_where_it_begins_and_ends():
    subject, found = tiny_subject(loops=2), {}
    tokens = torch.arange(12).view(2, 6)
    taps = {
        site: lambda place, x, site=site: found.update({site: x}) for site in ("embedding", "final_state")
    }
    logits = subject.run(tokens, taps=taps)
    assert torch.equal(found["embedding"], subject.embedding()[tokens])
    torch.testing.assert_close(found["final_state"] @ subject.unembedding().T, logits)


def test_modules_are_not_counted_since_nobody_knows_how_often_they_are_called():
    subject = tiny_subject()
    wiring = wired(subject.model, subject.anatomy, {"module": tap, "module:blocks.1": tap})
    assert not wiring.counted
    assert len(wiring.wires) == sum(1 for name, _ in subject.model.named_modules() if name) + 1
    assert wiring.wires[-1].module is subject.model.blocks[1]


@pytest.mark.parametrize("site", ["residuals", "residual:blocks.0", "matrix", "head"])
def test_a_name_that_is_no_tappable_site_is_refused(site):
    subject = tiny_subject()
    with pytest.raises(UnknownName, match="no kind of site to tap"):
        wired(subject.model, subject.anatomy, {site: tap})


def test_a_site_this_model_has_not_is_refused_with_the_reason():
    subject = tiny_subject(mlp="none")
    with pytest.raises(NotObservable, match="attention only"):
        wired(subject.model, subject.anatomy, {"mlp_output": tap})

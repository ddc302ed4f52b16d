"""Every kind of evidence keeps the contract of its kind; wrong ones are refused where they are offered."""

import pytest
import torch
from torch import Tensor

from ontogeny.catalogue import Part
from ontogeny.errors import BadContract, DuplicateName, UnknownName
from ontogeny.evidence import EVIDENCE, RAW, SITES, View, derived, streamed
from ontogeny.evidence.kinds import sites_offering
from ontogeny.measure.found import Found, watchers_for
from ontogeny.testing import temporary_catalogue
from ontogeny.vocabulary import Aim, Place, Reading

STREAMED = [(name, at) for name, kinds in EVIDENCE.items() for at, kind in kinds.items() if kind.streamed]


def leaves(value):
    """All numbers of a piece of evidence; undefined evidence has none."""
    if isinstance(value, Reading):
        return []
    if isinstance(value, Tensor):
        return [value.double()]
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in leaves(item)]
    return [torch.tensor(float(value))]


@pytest.mark.parametrize(("name", "at"), STREAMED)
@pytest.mark.parametrize("batch", [1, 4])
def test_the_cut_does_not_matter(name, at, batch, reduced, shown):
    whole, cut = (leaves(reduced(name, at, shown(at, 12), size)) for size in (1000, batch))
    assert [leaf.shape for leaf in whole] == [leaf.shape for leaf in cut]
    for one, other in zip(whole, cut, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "at"), STREAMED)
def test_what_is_shown_is_not_changed_nor_kept(name, at, reduced, shown):
    tensor = shown(at)
    before = tensor.clone()
    found = reduced(name, at, tensor)
    assert torch.equal(tensor, before)
    kept = [leaf.clone() for leaf in leaves(found)]
    tensor.zero_()
    assert all(torch.equal(a, b) for a, b in zip(leaves(found), kept, strict=True))


@pytest.mark.parametrize(("name", "at"), STREAMED)
def test_nothing_raises_on_values_that_are_not_finite(name, at, reduced, shown):
    for filled in (torch.nan, torch.inf):
        reduced(name, at, torch.full_like(shown(at), filled))


def test_every_need_is_met_somewhere():
    for name, kinds in EVIDENCE.items():
        assert sites_offering(name) == set(kinds) <= set(SITES)
    assert sites_offering("weight") == {RAW["weight"]}
    with pytest.raises(UnknownName, match="did you mean 'token_loss'"):
        sites_offering("token_los")


def test_by_lag_is_each_querys_keys_counted_backwards(shown, stimulus):
    pattern = shown("attention", 2)
    by_lag = View(pattern, stimulus(2, 20), slice(0, 2), Place(layer=0)).by_lag
    for query in range(20):
        for lag in range(19):
            expected = pattern[:, :, query, query - lag] if lag <= query else torch.zeros(2, 3)
            assert torch.equal(by_lag[:, :, query, lag], expected)


@pytest.mark.parametrize("lags", [[1, 5], [5, 5]], ids=["a lag apiece", "one lag twice"])
def test_template_sums_are_sums_over_a_templates_queries(lags, shown, stimulus):
    pattern = shown("attention", 2)
    lags = torch.tensor(lags)
    queries = torch.zeros(2, 20, dtype=torch.bool)
    queries[0, [8, 12]] = True
    queries[1, 6:] = True
    own = torch.tensor([0, 1])
    found = View(pattern, stimulus(2, 20), slice(0, 2), Place()).template_sums(
        Aim(lags, queries, own, own[None])
    )
    first = pattern[:, :, 8, 8 - lags[0]] + pattern[:, :, 12, 12 - lags[0]]
    second = sum(pattern[:, :, query, query - 5] for query in range(6, 20))
    torch.testing.assert_close(found, torch.stack([first, second], -1).double(), rtol=1e-5, atol=1e-7)


def test_wrong_offers_are_refused():
    with temporary_catalogue():
        with pytest.raises(DuplicateName, match="offered twice"):
            streamed("token_loss", at="logits", make=EVIDENCE["token_loss"]["logits"].make)
        with pytest.raises(UnknownName, match="did you mean 'residual'"):
            streamed("proof", at="residuals", make=EVIDENCE["token_loss"]["logits"].make)

        class Lacking:
            def init(self, view): ...
            def update(self, state, view): ...

        with pytest.raises(BadContract, match="no finish"):
            streamed("proof", at="logits", make=Lacking)

        @derived("proof", at="residual")
        def of_residual(residual_norms, weight): ...

        assert sites_offering("proof") == frozenset(), "its needs meet nowhere"
    assert "proof" not in EVIDENCE


def test_evidence_may_be_brought_from_another_kind_of_site_at_its_place():
    with temporary_catalogue():

        @derived("proof_before", at="mlp_activation", there="embedding")
        def proof_before(proof_size):
            return -proof_size

        class Size:
            def init(self, view): ...
            def update(self, state, view): ...
            def finish(self, state): ...

        streamed("proof_size", at="embedding", make=Size)
        assert sites_offering("proof_before") == {"mlp_activation"}
        made = Part("instrument", "proof", print, ("proof_before",), {}, "a test")
        assert [(w.name, w.at) for w in watchers_for([(made, "mlp_activation")])] == [
            ("proof_size", "embedding")
        ]
        place, other = Place(layer=0), Place(layer=1)
        found = Found({("proof_size", "embedding", place): 3.0}, {})
        assert found.get("proof_before", "mlp_activation", place) == -3.0
        assert isinstance(found.get("proof_before", "mlp_activation", other), Reading)
        with pytest.raises(UnknownName, match="did you mean 'embedding'"):
            derived("proof_nowhere", at="mlp_activation", there="embeding")(proof_before)

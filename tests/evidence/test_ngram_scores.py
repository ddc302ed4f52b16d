"""Scores against the n-gram distributions themselves."""

import pytest
import torch

from ontogeny.evidence import EVIDENCE, View
from ontogeny.evidence.ngram_scores import MOST, SEEN, chosen_predictions
from ontogeny.testing import TinyFacts
from ontogeny.vocabulary import Place, Reading, Status, Stimulus

FACTS = TinyFacts()


@pytest.fixture
def trained_rows() -> Stimulus:
    """Rows cut from the made-up training stream: every short context is a common one."""
    (stream,) = FACTS.statistics().streams
    tokens = torch.from_numpy(stream[:600].copy()).view(20, 30)
    weights = torch.ones(20, 30)
    weights[:, -1] = 0
    return Stimulus("heldout", tokens, weights)


def reduced(logits, stimulus, batch=1000, facts=FACTS):
    reducer, state = EVIDENCE["ngram_scores"]["logits"].make(), None
    for start in range(0, len(logits), batch):
        rows = slice(start, min(start + batch, len(logits)))
        view = View(logits[rows], stimulus, rows, Place(), facts)
        state = reducer.update(reducer.init(view) if state is None else state, view)
    return reducer.finish(state)


def as_logits(stimulus, order):
    """A model that is the n-gram model of an order, at every position of every row."""
    every = torch.arange(stimulus.tokens.numel())
    logits = torch.zeros(len(every), FACTS.vocabulary)
    for kept, chances in list(FACTS.statistics().ngrams(stimulus.tokens).each_order(every))[:order]:
        logits[kept] = chances.log()
    return logits.view(*stimulus.shape, -1)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_an_ngram_model_is_nearest_to_itself(trained_rows, order):
    scores = reduced(as_logits(trained_rows, order), trained_rows)
    covered = ~scores.variation[order - 1].isnan()
    assert int(covered.sum()) > 100
    assert scores.divergence[order - 1, covered].abs().max() < 1e-5
    assert scores.variation[order - 1, covered].max() < 1e-5
    assert scores.agreement[order - 1, covered].min() == 1
    others = [n for n in range(4) if n != order - 1]
    assert all(float(scores.divergence[n, covered].nanmean()) > 0.01 for n in others)


def test_scores_are_what_they_are_called(trained_rows):
    logits = torch.randn(20, 30, 40, generator=torch.Generator().manual_seed(0))
    scores = reduced(logits, trained_rows)
    places = chosen_predictions(trained_rows)
    model = FACTS.statistics().ngrams(trained_rows.tokens)
    chances = logits.flatten(0, 1)[places].softmax(-1)
    lower = None
    for order, (kept, ngram) in enumerate(model.each_order(places, SEEN)):
        ours = chances[kept]
        divergence = (ours * (ours / ngram).log()).sum(1)
        assert torch.allclose(scores.divergence[order, kept], divergence, atol=1e-5)
        assert torch.allclose(scores.variation[order, kept], (ours - ngram).abs().sum(1) / 2, atol=1e-5)
        agreement = ours.argmax(1) == ngram.argmax(1)
        assert scores.agreement[order, kept].tolist() == agreement.float().tolist()
        missing = torch.ones(len(places), dtype=torch.bool).index_fill_(0, kept, False)
        assert scores.divergence[order, missing].isnan().all()
        whole = torch.full((len(places), 40), torch.nan).index_copy_(0, kept, ngram)
        if lower is not None:
            change = (whole - lower).abs().sum(1)[kept] / 2
            assert torch.allclose(scores.change[order, kept], change, atol=1e-5)
        lower = whole


@pytest.mark.parametrize("batch", [1, 3, 20])
def test_the_cut_does_not_matter(trained_rows, batch):
    logits = torch.randn(20, 30, 40, generator=torch.Generator().manual_seed(1))
    whole, cut = reduced(logits, trained_rows), reduced(logits, trained_rows, batch)
    for one, other in zip(whole, cut, strict=True):
        assert torch.allclose(one, other, atol=1e-6, equal_nan=True)


def test_logits_of_no_token_are_left_out(trained_rows):
    logits = torch.randn(20, 30, 40, generator=torch.Generator().manual_seed(2))
    padded = torch.cat([logits, torch.full((20, 30, 8), 50.0)], -1)
    for one, other in zip(reduced(logits, trained_rows), reduced(padded, trained_rows), strict=True):
        assert torch.allclose(one, other, atol=1e-6, equal_nan=True)


def test_why_there_are_no_scores(trained_rows):
    class Unknown(TinyFacts):
        def statistics(self):
            return None

    logits = torch.zeros(20, 30, 40)
    for facts in (None, Unknown()):
        found = reduced(logits, trained_rows, facts=facts)
        assert isinstance(found, Reading)
        assert found.status is Status.NOT_OBSERVABLE
    assert reduced(logits[..., :30], trained_rows).status is Status.NOT_OBSERVABLE
    nothing = Stimulus("heldout", trained_rows.tokens, torch.zeros(20, 30))
    assert reduced(logits, nothing).status is Status.NO_TARGET


def test_a_broken_prediction_breaks_its_own_scores_alone(trained_rows):
    logits = torch.zeros(20, 30, 40)
    logits[0, 4, 7] = torch.nan
    scores = reduced(logits, trained_rows)
    at = chosen_predictions(trained_rows).tolist().index(4)
    assert scores.divergence[0, at].isnan()
    assert scores.agreement[0, at].isnan()
    assert int(scores.divergence[0].isnan().sum()) == 1


def test_predictions_are_spread_evenly_over_those_with_weight():
    weights = torch.zeros(100, 50)
    weights[:, 5:45] = 1
    chosen = chosen_predictions(Stimulus("heldout", torch.zeros(100, 50, dtype=torch.long), weights))
    assert len(chosen) == len(chosen.unique()) == MOST
    assert (weights.flatten()[chosen] == 1).all()
    assert set(chosen.diff().tolist()) <= {3, 4, 13, 14}

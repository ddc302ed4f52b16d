"""TOK-03."""

import torch

from ontogeny.catalogue import measuring_part, part
from ontogeny.evidence.ngram_scores import NgramScores
from ontogeny.instruments.ngram_distance import FEWEST, ngram_distance
from ontogeny.measure.checkpoint import Unit, measure_checkpoint
from ontogeny.subject import Subject
from ontogeny.testing import TinyFacts, tiny_subject
from ontogeny.vocabulary import Status, Stimulus

FACTS = TinyFacts()


def stimulus_of_training() -> Stimulus:
    (stream,) = FACTS.statistics().streams
    tokens = torch.from_numpy(stream[:1200].copy()).view(40, 30)
    weights = torch.ones(40, 30)
    weights[:, -1] = 0
    return Stimulus("heldout", tokens, weights)


class Table(Subject):
    """A model that is the n-gram model of one order, up to a constant in its logits."""

    def __init__(self, order: int, shift: float = 0.0) -> None:
        self.model, self.anatomy = tiny_subject().model, tiny_subject().anatomy
        self.stimulus, self.seen = stimulus_of_training(), 0
        every = torch.arange(self.stimulus.tokens.numel())
        logits = torch.zeros(len(every), FACTS.vocabulary)
        for kept, chances in list(FACTS.statistics().ngrams(self.stimulus.tokens).each_order(every))[:order]:
            logits[kept] = chances.log()
        self.logits = logits.view(*self.stimulus.shape, -1) + shift

    def observable(self, kind: str) -> bool:
        return kind == "logits"

    def run(self, tokens, *, taps=None):
        rows = self.logits[self.seen : self.seen + len(tokens)]
        self.seen += len(tokens)
        return rows


def rows_of(subject) -> dict[str, dict]:
    unit = Unit(measuring_part("ngram_distance"), "logits", stimulus_of_training(), "heldout")
    found = measure_checkpoint(subject, [unit], lambda compared: None, 16, FACTS).rows
    return {row["component"]: row for row in found}


def test_the_bigram_table_is_at_its_own_order():
    rows = rows_of(Table(2))
    assert abs(rows["distance_2"]["value"]) < 1e-5
    assert rows["distance_1"]["value"] > 0.1
    assert rows["order"]["value"] == 2
    assert rows[""]["value"] == rows["distance_2"]["value"]
    assert rows["agreement_2"]["value"] == 1
    assert rows["variation_2"]["value"] < 1e-5
    assert rows["coverage_1"]["value"] == 1
    assert rows["coverage_2"]["value"] > 0.95 > rows["coverage_4"]["value"]


def test_each_order_is_found_and_shared_contexts_agree():
    for order in (1, 2, 3):
        rows = rows_of(Table(order))
        assert rows["order"]["value"] == order
        if rows["order_shared"]["status"] == "ok":
            assert rows["order_shared"]["value"] == order
            assert abs(rows[f"shared_{order}"]["value"]) < 1e-5


def test_a_constant_in_the_logits_changes_nothing():
    plain, shifted = rows_of(Table(3)), rows_of(Table(3, shift=11.0))
    for name, row in plain.items():
        if row["value"] is not None:
            assert abs(row["value"] - shifted[name]["value"]) < 1e-4, name


def test_a_memorised_ngram_is_near_to_it_and_it_far_from_the_order_below():
    rows = rows_of(Table(2))
    assert 0.5 < rows["memorised_2"]["value"] <= 1
    assert "memorised_1" not in rows
    assert rows_of(Table(1))["memorised_2"]["value"] == 0


def made(covered: int, total: int = 100) -> NgramScores:
    seen = torch.zeros(2, total, dtype=torch.bool)
    seen[0], seen[1, :covered] = True, True
    values = torch.where(seen, torch.tensor([[0.5], [0.2]]), torch.nan)
    change = torch.where(seen, 0.5, torch.nan)
    change[0] = torch.nan
    return NgramScores(values, values.clone(), torch.where(seen, 1.0, torch.nan), change)


def test_an_order_that_few_contexts_have_is_not_compared():
    few, enough = ngram_distance(made(FEWEST - 1)), ngram_distance(made(FEWEST))
    assert few["distance_2"].status is Status.N_TOO_SMALL
    assert few["order"].value == 1
    assert float(few["coverage_2"].value) == (FEWEST - 1) / 100
    assert enough["order"].value == enough["order_shared"].value == 2
    assert abs(float(enough[""].value) - 0.2) < 1e-6


def test_no_predictions_and_broken_logits_say_why():
    nothing = ngram_distance(made(0, total=0))
    assert nothing[""].status is Status.N_TOO_SMALL
    table = Table(2)
    table.logits = table.logits * torch.nan
    rows = rows_of(table)
    assert {rows[name]["status"] for name in ("", "distance_1", "agreement_2", "order")} == {"nonfinite"}


def test_it_needs_data_that_can_be_counted():
    unit = Unit(measuring_part("ngram_distance"), "logits", stimulus_of_training(), "heldout")
    (row,) = measure_checkpoint(Table(2), [unit], lambda compared: None, 16, None).rows
    assert row["status"] == "not-observable"
    assert part("instrument", "ngram_distance").stimuli == ("heldout",)

"""The null of attention screens: what it sees, and that it stays the same over checkpoints."""

import pytest
import torch

from ontogeny.catalogue import measuring_part, part, parts
from ontogeny.evidence.attention_to_aim import Screened
from ontogeny.measure.checkpoint import gather
from ontogeny.testing import TinyFacts, measured_on, tiny_subject, tiny_units
from ontogeny.vocabulary import Place

SCREENS = [name for name, made in parts("instrument").items() if made.null == "shuffled_lag"]


def draws_of(subject, made, stimulus: str):
    """Draws [draw head] of layer 0."""
    (unit,) = [unit for unit in tiny_units(made) if unit.stimulus_name == stimulus]
    return part("null", "shuffled_lag").make(
        gather(subject, [unit]).get(made.needs[0], "attention", Place(layer=0))
    )


def test_it_returns_exactly_what_was_drawn():
    drawn = torch.rand(7, 3)
    assert part("null", "shuffled_lag").make(Screened(torch.zeros(3), 5, drawn)) is drawn


@pytest.mark.parametrize("name", SCREENS)
def test_a_head_that_attends_uniformly_reads_the_same_as_each_draw(name):
    subject = tiny_subject()
    for parameter in (block.attention.query.weight for block in subject.model.blocks):
        parameter.data.zero_()
    made = measuring_part(name)
    for stimulus in made.stimuli:
        drawn = draws_of(subject, made, stimulus)
        score = next(
            row["value"]
            for row in measured_on(subject, made).rows
            if row["component"] == "" and row["stimulus_name"] == stimulus
        )
        assert drawn.shape[0] == 199
        torch.testing.assert_close(drawn, torch.full_like(drawn, score), rtol=1e-5, atol=0)


@pytest.mark.parametrize("name", SCREENS)
def test_draws_differ_from_each_other_and_not_between_runs(name):
    made = measuring_part(name)
    subject = tiny_subject(positions="learned", init="pytorch")
    for stimulus in made.stimuli:
        drawn = draws_of(subject, made, stimulus)
        assert torch.equal(drawn, draws_of(subject, made, stimulus))
        assert len(drawn[:, 0].unique()) > 100, f"{stimulus}: the draws are all the same aim"


def test_a_draw_aims_where_its_lags_say():
    """A head that looks exactly where draw 3 of `successor` aims reads 1 there."""
    stimulus = part("stimulus", "repeated_tokens").make(TinyFacts())
    aim = stimulus.aims["successor"]
    length = stimulus.shape[1]
    keys = (torch.arange(length) - aim.lags[aim.shuffled[3]][:, None]).clamp_min(0)
    pattern = torch.nn.functional.one_hot(keys, length).float()[:, None]

    class Looking(type(tiny_subject())):
        def __init__(self):
            self.seen = 0

        def observable(self, kind):
            return True

        def run(self, tokens, *, taps=None):
            taps["attention"](Place(layer=0), pattern[self.seen : self.seen + len(tokens)])
            self.seen += len(tokens)
            return torch.zeros(len(tokens), length, 2)

    drawn = draws_of(Looking(), measuring_part("induction"), "repeated_tokens")[:, 0]
    assert drawn.argmax() == 3
    assert float(drawn[3]) == pytest.approx(1, abs=1e-6)
    assert float(drawn.median()) < 0.5

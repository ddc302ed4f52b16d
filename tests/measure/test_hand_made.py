"""A decoder whose weights were set by hand: layer 0 looks at the token before, layer 1 does induction."""

import pytest
import torch

from ontogeny.catalogue import part
from ontogeny.measure import measure
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.models.shapes import export_state
from ontogeny.store.checkpoint import write_checkpoint
from ontogeny.subject import Subject
from ontogeny.testing import TinyFacts

VOCABULARY = CONTEXT = 40
#: The residual stream: token, position, previous token, prediction; one slot of 40 features each.
TOKEN, POSITION, PREVIOUS, PREDICTED = (slice(40 * k, 40 * k + 40) for k in range(4))
CONFIG = DecoderConfig(
    vocabulary=VOCABULARY,
    context=CONTEXT,
    width=160,
    layers=2,
    heads=2,
    mlp="none",
    positions="learned",
    tied=False,
)
SHARP = 8.0


@torch.no_grad()
def induction_model() -> Decoder:
    """Head 0 of each layer uses 40 of its 80 features; head 1 attends uniformly and writes nothing."""
    model, eye = Decoder(CONFIG).eval(), torch.eye(40)
    for name, parameter in model.named_parameters():
        parameter.fill_(1.0 if "norm" in name else 0.0)
    model.embedding.weight[:, TOKEN] = eye
    model.position_embedding.weight[:, POSITION] = eye
    first, second = (block.attention for block in model.blocks)
    # Query t asks for position t − 1.
    first.query.weight[:40, POSITION] = SHARP * eye.roll(-1, 0).tril(1).triu(1)
    first.key.weight[:40, POSITION] = eye
    first.value.weight[:40, TOKEN] = eye
    first.output.weight[PREVIOUS, :40] = eye
    # Query t asks for positions whose previous token is its own; position 0 has none and repels everybody.
    second.query.weight[:40, TOKEN] = SHARP * eye
    second.key.weight[:40, PREVIOUS] = eye
    second.key.weight[:40, POSITION.start] = -2
    second.value.weight[:40, TOKEN] = eye
    second.output.weight[PREDICTED, :40] = eye
    model.unembedding.weight[:, PREDICTED] = 10 * eye
    return model


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """Everything the measuring path says of the model, as a series of one checkpoint: rows by part."""
    from ontogeny.store.rows import read_rows  # after the import hook

    home = tmp_path_factory.mktemp("hand-made")
    config, tensors = export_state(CONFIG, dict(induction_model().state_dict()))
    write_checkpoint(
        home / "step10", tensors={"model": tensors}, documents={"config": config}, step=10, metadata={}
    )
    measure(home)
    frame = read_rows(home / "ontogeny")
    return frame[(frame["component"] == "") & (frame["stimulus_name"] != "heldout")]


def value(scores, name: str, layer: int, head: int) -> float:
    chosen = scores[(scores["part"] == name) & (scores["layer"] == layer) & (scores["head"] == head)]
    (row,) = chosen[chosen["stimulus_name"] == "repeated_tokens"].to_dict("records")
    assert row["status"] == "ok"
    assert row["step"] == 10
    return row["value"]


def test_each_head_is_what_it_was_built_to_be(scores):
    assert value(scores, "previous_token", 0, 0) >= 0.99
    assert value(scores, "induction", 1, 0) >= 0.99


def test_no_head_is_what_it_was_not_built_to_be(scores):
    assert value(scores, "induction", 0, 0) < 0.01
    assert value(scores, "previous_token", 1, 0) < 0.1, "uniform where nothing came before"
    for layer in (0, 1):
        assert value(scores, "induction", layer, 1) < 0.1
        assert value(scores, "previous_token", layer, 1) < 0.1
        assert value(scores, "sink_mass", layer, 0) < 0.1


def test_it_predicts_what_repetition_gives_away():
    stimulus = part("stimulus", "repeated_tokens").make(TinyFacts())
    logits = Subject(induction_model()).run(stimulus.tokens)
    loss = -logits.log_softmax(-1)[:, :-1].gather(-1, stimulus.tokens[:, 1:, None])[..., 0]
    known = stimulus.weights[:, :-1] > 0
    assert float(loss[known].max()) < 0.01
    assert float(loss[~known].mean()) > 3


def test_without_layer_0_nothing_is_left_of_it():
    stimulus = part("stimulus", "repeated_tokens").make(TinyFacts())
    patterns = {}
    uniform = torch.ones(CONTEXT, CONTEXT).tril()
    uniform /= uniform.sum(1, keepdim=True)

    def tap(place, pattern):
        patterns[place["layer"]] = pattern
        length = pattern.shape[-1]
        return uniform[:length, :length].expand_as(pattern) if place["layer"] == 0 else None

    Subject(induction_model()).run(stimulus.tokens, taps={"attention": tap})
    aim = stimulus.aims["successor"]
    rows, queries = aim.queries[aim.own].nonzero(as_tuple=True)
    assert float(patterns[1][rows, 0, queries, queries - aim.lags[aim.own[rows]]].mean()) < 0.2

"""What a subject shows is what the model computes, and nothing of the model is left changed."""

import copy

import pytest
import torch

from ontogeny.anatomy import TAPPABLE
from ontogeny.errors import NotObservable, UnknownName
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.subject import Subject
from ontogeny.testing import tiny_subject
from ontogeny.vocabulary import Place, Streams
from tiny_families import FAMILIES, tiny
from tiny_families import tokens as tokens_of


def seen(subject: Subject, tokens, kind: str) -> dict[Place, torch.Tensor]:
    found = {}
    subject.run(tokens, taps={kind: lambda place, tensor: found.update({place: tensor.clone()})})
    return found


def eagerly(model, tokens):
    """The model's own patterns and hidden states, by its eager attention."""
    twin = copy.deepcopy(model)
    twin.set_attn_implementation("eager")
    with torch.no_grad():
        return twin(input_ids=tokens, output_attentions=True, output_hidden_states=True, use_cache=False)


def test_patterns_are_those_of_eager_attention(model, tokens):
    expected = eagerly(model, tokens).attentions
    found = seen(Subject(model), tokens, "attention")
    assert list(found) == [Place(layer=0), Place(layer=1)]
    for layer, pattern in enumerate(expected):
        torch.testing.assert_close(found[Place(layer=layer)], pattern, atol=1e-6, rtol=0)


def test_residuals_are_the_hidden_states(model, tokens):
    expected = eagerly(model, tokens).hidden_states
    found = seen(Subject(model), tokens, "residual")
    torch.testing.assert_close(found[Place(layer=0)], expected[1], atol=1e-5, rtol=0)
    norm = next(
        m for name, m in model.named_modules() if name.endswith((".norm", ".ln_f", ".final_layer_norm"))
    )
    with torch.no_grad():
        final = norm(found[Place(layer=1)])
    torch.testing.assert_close(final, expected[2], atol=1e-5, rtol=0)
    assert (found[Place(layer=1)] - expected[2]).abs().max() > 1e-3, "the last hidden state is after the norm"


def test_looking_changes_no_logit(model, tokens):
    assert model.config._attn_implementation == "sdpa"
    with torch.no_grad():
        plain = model(input_ids=tokens, use_cache=False).logits
    subject = Subject(model)
    torch.testing.assert_close(subject.run(tokens), plain, atol=0, rtol=0)
    residual = subject.run(tokens, taps={"residual": lambda place, tensor: None})
    torch.testing.assert_close(residual, plain, atol=0, rtol=0)
    patterns = subject.run(tokens, taps={"attention": lambda place, tensor: None})
    torch.testing.assert_close(patterns, plain, atol=1e-5, rtol=0)
    assert plain.std() > 0.1


def test_no_query_sees_the_future(model, tokens):
    for pattern in seen(Subject(model), tokens, "attention").values():
        assert pattern.triu(1).abs().max() == 0
        torch.testing.assert_close(pattern.sum(-1), torch.ones(pattern.shape[:-1]), atol=1e-5, rtol=0)
    later = tokens.clone()
    later[:, 12:] = (later[:, 12:] + 1) % 61
    tap = {"attention": lambda place, tensor: None}
    one, other = Subject(model).run(tokens, taps=tap), Subject(model).run(later, taps=tap)
    torch.testing.assert_close(one[:, :12], other[:, :12], atol=1e-5, rtol=0)
    assert (one[:, 12:] - other[:, 12:]).abs().max() > 0.01


def traces(model) -> dict:
    """Whatever a tap could leave behind."""
    return {
        "hooks": sum(
            len(m._forward_hooks) + len(m._forward_pre_hooks) + len(m._forward_pre_hooks_with_kwargs)
            for m in model.modules()
        ),
        "training": [module.training for module in model.modules()],
        "names": list(model.state_dict()),
        "bits": [parameter.clone() for parameter in model.state_dict().values()],
        "attention": getattr(getattr(model, "config", None), "_attn_implementation", None),
        "attend": [m.attend for m in model.modules() if hasattr(m, "attend")],
        "forward": [module.forward.__func__ for module in model.modules()],
        "random": torch.get_rng_state(),
    }


def assert_untouched(before: dict, after: dict) -> None:
    for name in before:
        if name == "random":
            assert torch.equal(before[name], after[name])
        elif name == "bits":
            assert all(torch.equal(a, b) for a, b in zip(before[name], after[name], strict=True))
        else:
            assert before[name] == after[name], name


class Stop(Exception):
    pass


def stopping(place, tensor):
    raise Stop


BOTH = {"residual": lambda place, tensor: None, "attention": lambda place, tensor: None}


@pytest.mark.parametrize("kind", ["residual", "attention"])
def test_an_exception_in_a_tap_leaves_nothing_behind(model, tokens, kind):
    model.train()
    before = traces(model)
    with pytest.raises(Stop):
        Subject(model).run(tokens, taps={**BOTH, kind: stopping})
    assert_untouched(before, traces(model))


def test_fifty_looks_leave_nothing_behind(model, tokens):
    model.train()
    model.get_submodule(Subject(model).anatomy.blocks[1]).eval()
    before = traces(model)
    assert len(set(before["training"])) == 2
    subject = Subject(model)
    for _ in range(50):
        with subject.watching(BOTH):
            pass
    for _ in range(3):
        subject.run(tokens, taps=BOTH)
    assert_untouched(before, traces(model))


def test_our_decoder_is_left_as_it_was_too(tokens):
    subject = tiny_subject(vocabulary=61, dropout=0.5)
    subject.model.train()
    subject.model.blocks[0].eval()
    before = traces(subject.model)
    subject.run(tokens, taps=BOTH)
    with pytest.raises(Stop):
        subject.run(tokens, taps={"attention": stopping})
    assert_untouched(before, traces(subject.model))


def test_edits_change_what_comes_after(model, tokens):
    subject = Subject(model)
    plain = subject.run(tokens)
    silenced = subject.run(tokens, taps={"residual": lambda place, x: x * 0 if place["layer"] == 1 else None})
    assert (silenced[0, 0] - silenced[1, 5]).abs().max() < 1e-5, "the last residual decides the logits alone"
    same = subject.run(tokens, taps={"attention": lambda place, x: x.clone()})
    torch.testing.assert_close(same, plain, atol=1e-5, rtol=0)
    sink = lambda place, x: (
        torch.zeros_like(x).index_fill_(-1, torch.tensor([0]), 1) if place["layer"] == 0 else None
    )
    moved = subject.run(tokens, taps={"attention": sink})
    torch.testing.assert_close(moved[:, 0], plain[:, 0], atol=1e-5, rtol=0)
    assert (moved[:, 1:] - plain[:, 1:]).abs().max() > 0.01


def test_two_models_do_not_hear_each_other(built, tokens):
    one, other = Subject(built("gpt2")), Subject(built("gpt2", seed=1))
    heard = []
    with one.watching({"attention": lambda place, tensor: heard.append(place)}):
        other.run(tokens)
        assert not heard
        inner = seen(other, tokens, "attention")
        assert len(inner) == 2
        one.run(tokens)
    assert heard == [Place(layer=0), Place(layer=1)]


def test_gradients_flow_under_watching_but_not_in_run(tokens):
    subject = tiny_subject(vocabulary=61)
    with subject.watching({"attention": lambda place, x: x}):
        assert subject.model(tokens).requires_grad
    assert not subject.run(tokens).requires_grad


def test_a_looped_decoder_is_seen_once_a_loop(tokens):
    config = DecoderConfig(vocabulary=61, context=40, width=16, layers=2, heads=4, loops=3)
    subject = Subject(Decoder(config, Streams(0).generator("tiny")).eval())
    for kind in ("residual", "attention"):
        found = seen(subject, tokens, kind)
        assert list(found) == [Place(layer=layer, loop=loop) for loop in range(3) for layer in range(2)]
        assert len({tensor.std().item() for tensor in found.values()}) == 6


def test_matrices_are_every_matrix_once(model):
    matrices = Subject(model).matrices()
    assert len(matrices) == sum(p.ndim == 2 for p in model.parameters())
    assert (
        sum(place.get("layer") == 1 for place in matrices)
        == sum(place.get("layer") == 0 for place in matrices)
        > 3
    )
    assert all("matrix" in place for place in matrices)


def test_an_unknown_kind_of_site_is_refused(tokens):
    with pytest.raises(UnknownName, match="did you mean 'residual'"):
        tiny_subject(vocabulary=61).run(tokens, taps={"residuals": lambda place, tensor: None})


def test_any_module_shows_its_modules_and_matrices():
    model = torch.nn.Sequential(
        torch.nn.Conv1d(3, 4, 2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8, 2)
    )
    subject, given, found = Subject(model), torch.randn(5, 3, 3), {}
    tap = lambda place, tensor: found.update({place["site"]: tensor})
    output = subject.run(given, taps={"module": tap})
    assert list(found) == ["0", "1", "2", "3"]
    assert found["0"].shape == (5, 4, 2)
    assert torch.equal(output, found["3"])
    assert list(subject.matrices()) == [Place(matrix="3")]
    assert set(subject.parameters()) == {"0.weight", "0.bias", "3.weight", "3.bias"}
    silenced = subject.run(given, taps={"module:1": lambda place, tensor: tensor * 0})
    assert torch.equal(silenced, model[3].bias.expand(5, 2))
    with pytest.raises(NotObservable, match="by their paths, at site 'module'"):
        subject.run(given, taps={"residual": tap})
    with pytest.raises(UnknownName, match="no module is called '9'"):
        subject.run(given, taps={"module:9": tap})


def test_conditions_say_what_a_pass_was_computed_with(model):
    conditions = Subject(model).conditions()
    assert conditions["kernel"] == "sdpa"
    assert conditions["dtype"] == "float32"
    assert conditions["cache"] is False
    assert conditions["transformers"]
    assert tiny_subject().conditions()["transformers"] == ""


@pytest.mark.parametrize("family", FAMILIES)
def test_a_step_of_training_under_taps_leaves_everything_as_it_was(family):
    model = tiny(family)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters())
    model(tokens_of()).logits.square().mean().backward()
    optimizer.step()
    before, state = traces(model), copy.deepcopy(optimizer.state_dict())
    subject = Subject(model)
    subject.run(tokens_of(), taps=looking(subject))
    with subject.watching(looking(subject)):
        pass
    assert_untouched(before, traces(model))
    after = optimizer.state_dict()
    assert after["param_groups"] == state["param_groups"]
    for key, held in state["state"].items():
        assert all(torch.equal(after["state"][key][name], value) for name, value in held.items())


def looking(subject: Subject) -> dict:
    return {site: lambda place, tensor: None for site in TAPPABLE if subject.observable(site)}

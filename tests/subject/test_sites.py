"""Every site of every family is what `transformers` itself computes."""

import copy
from typing import Any

import pytest
import torch

from ontogeny.anatomy import TAPPABLE
from ontogeny.evidence import EVIDENCE, SITES, WITHOUT_PASS
from ontogeny.measure.fused_pass import Watcher, fused_pass
from ontogeny.numerics.aims import previous_aim
from ontogeny.subject import Subject
from ontogeny.vocabulary import Place, Stimulus
from tiny_families import EXPERTS, FAMILIES, tiny, tokens

pytest.importorskip("transformers")
CLOSE = {"atol": 1e-5, "rtol": 1e-5}
LAYERS = (Place(layer=0), Place(layer=1))
EAGER_ONLY = ("gemma2",)  # its scores are capped, which torch's kernel cannot do
MODELS = [
    pytest.param(family, kernel, id=f"{family} {kernel}")
    for family in FAMILIES
    for kernel in ("eager", "sdpa")
    if not (kernel == "sdpa" and family in EAGER_ONLY)
]


def seen(subject: Subject, given: torch.Tensor, sites=None) -> dict[tuple[str, Place], torch.Tensor]:
    found = {}

    def keep(site: str) -> Any:
        return lambda place, tensor: found.update({(site, place): tensor.clone()})

    chosen = [site for site in sites or TAPPABLE if site != "module" and subject.observable(site)]
    subject.run(given, taps={site: keep(site) for site in chosen})
    return found


def eagerly(model, given):
    """The model's own patterns and hidden states, by its eager attention."""
    twin = copy.deepcopy(model)
    twin.set_attn_implementation("eager")
    with torch.no_grad():
        return twin(given, output_attentions=True, output_hidden_states=True)


def test_the_names_of_sites_are_those_that_evidence_may_look_at():
    assert set(TAPPABLE) == set(SITES) - WITHOUT_PASS


@pytest.mark.parametrize(("family", "kernel"), MODELS)
def test_states_patterns_and_logits_are_the_models_own(family, kernel):
    model = tiny(family, attn_implementation=kernel)
    expected, found = eagerly(model, tokens()), seen(Subject(model), tokens())
    torch.testing.assert_close(found["embedding", Place()], expected.hidden_states[0], **CLOSE)
    torch.testing.assert_close(found["residual", LAYERS[0]], expected.hidden_states[1], **CLOSE)
    torch.testing.assert_close(found["final_state", Place()], expected.hidden_states[2], **CLOSE)
    torch.testing.assert_close(found["logits", Place()], expected.logits, **CLOSE)
    for place, pattern in zip(LAYERS, expected.attentions, strict=True):
        torch.testing.assert_close(found["attention", place], pattern, **CLOSE)
    assert expected.logits.std() > 0.1


@pytest.mark.parametrize("family", FAMILIES)
def test_queries_and_keys_make_the_pattern_and_values_the_heads_output(family):
    model = tiny(family)
    subject = Subject(model)
    found = seen(subject, tokens())
    attention = [model.get_submodule(path) for path in subject.anatomy.attention]
    groups = subject.anatomy.heads // subject.anatomy.key_value_heads
    for place, module in zip(LAYERS, attention, strict=True):
        key, value = (found[s, place].repeat_interleave(groups, 1) for s in ("key", "value"))
        scores = found["query", place] @ key.transpose(-1, -2) * module.scaling
        cap = getattr(model.config, "attn_logit_softcapping", None)
        scores = cap * torch.tanh(scores / cap) if cap else scores
        pattern = found["attention", place]
        expected = scores.masked_fill(pattern == 0, -torch.inf).softmax(-1)
        torch.testing.assert_close(pattern, expected, **CLOSE)
        torch.testing.assert_close(found["head_output", place], (pattern @ value).transpose(1, 2), **CLOSE)


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in EXPERTS])
def test_neurons_are_what_stands_before_and_after_the_non_linearity(family):
    model = tiny(family)
    subject = Subject(model)
    ups: dict[str, torch.Tensor] = {}
    subject.run(tokens(), taps={"module": lambda place, tensor: ups.update({str(place["site"]): tensor})})
    found = seen(subject, tokens())
    for place, block in zip(LAYERS, subject.anatomy.blocks, strict=True):
        modules = dict(model.get_submodule(block).named_modules())
        (act,) = [module for path, module in modules.items() if path.rsplit(".", 1)[-1].endswith(ACTS)]
        expected = act(found["mlp_preactivation", place])
        if "mlp.up_proj" in modules:
            expected = expected * ups[f"{block}.mlp.up_proj"]
        torch.testing.assert_close(found["mlp_activation", place], expected, **CLOSE)
        assert found["mlp_activation", place].shape == (3, 24, subject.anatomy.neurons)


ACTS = ("act", "act_fn", "activation_fn")


@pytest.mark.parametrize("family", EXPERTS)
def test_experts_hide_their_neurons_and_say_so(family):
    subject = Subject(tiny(family))
    assert not subject.observable("mlp_activation")
    assert "experts" in subject.anatomy.why_not("mlp_activation")
    assert subject.observable("mlp_output")


@pytest.mark.parametrize("family", FAMILIES)
def test_head_scores_are_those_of_the_models_own_patterns(family):
    model = tiny(family)
    weights = torch.ones(3, 24)
    weights[:, -1] = 0
    aim = previous_aim(3, 24, torch.Generator().manual_seed(0))
    stimulus = Stimulus("heldout", tokens(), weights, {"previous": aim})
    watcher = Watcher("scores", "attention", EVIDENCE["attention_to_previous"]["attention"].make)
    found = fused_pass(Subject(model), stimulus, [watcher], batch=2)
    for place, pattern in zip(LAYERS, eagerly(model, tokens()).attentions, strict=True):
        expected = pattern.diagonal(-1, -2, -1)[..., int(aim.queries[0].nonzero()[0]) - 1 :].mean((0, 2))
        torch.testing.assert_close(found["scores", "attention", place].score.float(), expected, **CLOSE)


def exchanged_in_the_first_layer(place: Place, tensor: torch.Tensor) -> torch.Tensor | None:
    return None if place.get("layer") == 1 else tensor.flip(0)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_replacement_at_any_site_goes_on(family):
    subject = Subject(tiny(family))
    plain = subject.run(tokens())
    for site in TAPPABLE:
        if site == "module" or not subject.observable(site):
            continue
        same = subject.run(tokens(), taps={site: lambda place, tensor: tensor.clone()})
        torch.testing.assert_close(same, plain, **CLOSE)
        other = subject.run(tokens(), taps={site: exchanged_in_the_first_layer})
        assert (other - plain).abs().max() > 1e-2, site


def test_residuals_alone_leave_the_models_kernel_in_place(monkeypatch):
    model = tiny("llama", attn_implementation="sdpa")
    calls = []
    own = torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        torch.nn.functional, "scaled_dot_product_attention", lambda *a, **k: calls.append(1) or own(*a, **k)
    )
    subject = Subject(model)
    calls.clear()
    module_sites = ("residual", "head_output", "mlp_activation", "final_state")
    plain = subject.run(tokens())
    looked = subject.run(tokens(), taps={site: lambda place, tensor: None for site in module_sites})
    assert torch.equal(looked, plain)
    assert len(calls) == 4
    subject.run(tokens(), taps={"query": lambda place, tensor: None})
    assert len(calls) == 4

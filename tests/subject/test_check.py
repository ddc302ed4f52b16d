"""Right maps pass, wrong ones are refused with the site and the difference, of guesses what holds is kept."""

from dataclasses import replace

import pytest
import torch

from ontogeny.anatomy import TAPPABLE, Anatomy, Projections, Readout, Spot, read_anatomy
from ontogeny.errors import NotObservable
from ontogeny.subject import Subject
from ontogeny.subject.check import faults
from ontogeny.testing import tiny_subject
from tiny_families import FAMILIES, OTHERS, tiny, tokens

pytest.importorskip("transformers")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_known_and_its_map_holds(family):
    subject = Subject(tiny(family))
    assert not subject.anatomy.guessed
    assert faults(subject) == {}


@pytest.mark.parametrize("family", ["gpt2", "llama", "bert"])
def test_a_model_without_its_head_is_mapped_too(family):
    subject = Subject(tiny(family, head=False))
    assert not subject.observable("logits")
    assert "has no unembedding" in subject.anatomy.why_not("logits")
    assert subject.run(tokens()).shape == (3, 24, 32)
    with pytest.raises(NotObservable, match="no unembedding"):
        subject.unembedding()


OURS = [
    {}, {"norm_place": "post"}, {"loops": 2}, {"norm_place": "post", "loops": 2, "kv_heads": 2},
    {"mlp": "none"}, {"mlp": "none", "norm_place": "post"}, {"qk_norm": True}, {"positions": "none"},
    {"mlp": "gelu", "norm": "layernorm", "bias": True, "positions": "learned", "tied": False},
]  # fmt: skip


@pytest.mark.parametrize("changes", OURS, ids=str)
def test_the_map_of_our_decoder_holds_by_construction(changes):
    subject = tiny_subject(**changes, init_scale=0.2)
    assert faults(subject) == {}


def swapped(sites: dict, one: str, other: str) -> dict:
    return {**sites, one: sites[other], other: sites[one]}


def reading(**said):
    return lambda a: replace(a, readout=replace(a.readout, **said))


def projecting(**said):
    return lambda a: replace(a, projections=replace(a.projections, **said))


def at(site: str, *spots: Spot):
    return lambda a: replace(a, sites={**a.sites, site: spots})


WRONG = {
    "no scale of the embedding": ("gemma", reading(embedding_scale=1.0), "embedding: the stream that"),
    "no cap": ("gemma2", reading(cap=0.0), "readout: what is read out"),
    "gains as they are stored": ("gemma3", reading(gain_offset=0.0), "readout: the final norm's gain"),
    "another norm": (
        "llama", reading(final_norm="model.layers.0.input_layernorm"), "final_state: the norm of the last",
    ),
    "before the norm of what attention adds": (
        "olmo2", lambda a: replace(a, branch_norms=("", "")), "head: attention_output at layer 0",
    ),
    "the MLP before its norm": (
        "olmo2", lambda a: at("mlp_output", *map(Spot, a.mlp))(a), "sum: the stream's sum at layer 0",
    ),
    "a stream that is normed": ("bert", lambda a: replace(a, stream_norms=("", "")), "sum: the stream's"),
    "another query": ("qwen2", projecting(query="self_attn.k_proj"), "head: "),
    "values and keys exchanged": (
        "llama", projecting(key="self_attn.v_proj", value="self_attn.k_proj"), "head: value at layer 0",
    ),
    "another norm before attention": (
        "llama", projecting(norm="post_attention_layernorm"), "head: norm at layer 0",
    ),
    "a norm before attention left out": ("gpt2", projecting(norm=""), "head: norm at layer 0"),
    "thirds taken for heads": ("gpt2", projecting(fused="by head"), "head: value at layer 0"),
    "heads taken for thirds": ("gpt_neox", projecting(fused="thirds"), "head: value at layer 0"),
    "another number of heads": ("phi", lambda a: replace(a, heads=2), "is [4, 4, 6, 6], not [4, 2, 6, 6]"),
    "one neuron too many": (
        "mistral", lambda a: replace(a, neurons=49), "mlp_activation: at layer 0 is [4, 6, 48], not",
    ),
    "an encoder taken for causal": (
        "bert", lambda a: replace(a, causal=True), "attention: at layer 0 queries see later keys",
    ),
    "the stream before a block for that after it": (
        "llama", lambda a: at("residual", *(Spot(b, "input") for b in a.blocks))(a), "sum: the stream's sum",
    ),
    "a module that is not run": (
        "llama", at("final_state", Spot("model.layers")), "final_state at model.layers was seen 0 times",
    ),
    "a module that is not there": ("llama", at("final_state", Spot("no")), "final_state: AttributeError"),
    "an activation for what the MLP adds": (
        "gpt2", lambda a: at("mlp_output", *a.sites["mlp_activation"])(a), "mlp_output: at layer 0 is [4",
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", WRONG)
def test_a_wrong_map_is_refused_with_the_site_and_the_difference(how):
    family, spoil, said = WRONG[how]
    model = tiny(family)
    with pytest.raises(NotObservable) as caught:
        Subject(model, spoil(read_anatomy(model)))
    assert said in str(caught.value)


@pytest.mark.parametrize("family", ["gpt2", "gpt_neox", "llama", "olmo", "gemma", "phi"])
@pytest.mark.parametrize(("shift", "factor"), [(1, 1), (100, 1), (1, 1e-3), (0, 1e-3), (0, 1e-6), (0, 1e3)])
def test_what_is_allowed_grows_and_shrinks_with_what_is_summed(family, shift, factor):
    """Weights of one sign cancel in normed streams, small ones leave small sums; neither is a wrong map."""
    model = tiny(family)
    for parameter in model.parameters():
        parameter.data.mul_(factor).add_(shift)
    assert faults(Subject(model, check=False)) == {}


@pytest.mark.parametrize("factor", [1e-2, 1e2])
@pytest.mark.parametrize(
    "how", ["values and keys exchanged", "heads taken for thirds", "thirds taken for heads", "another query"]
)
def test_a_wrong_map_is_refused_whatever_the_scale(how, factor):
    family, spoil, _ = WRONG[how]
    model = tiny(family)
    for parameter in model.parameters():
        parameter.data.mul_(factor)
    assert "head" in faults(Subject(model, spoil(read_anatomy(model)), check=False))


def test_broken_weights_do_not_make_a_map_wrong():
    model = tiny("llama")
    for parameter in model.parameters():
        parameter.data.fill_(float("nan"))
    assert Subject(model).observable("mlp_activation")


def test_without_weights_nothing_is_run():
    with torch.device("meta"):
        model = tiny("llama", attn_implementation="eager").to("meta")
    assert Subject(model).anatomy.layers == 2


@pytest.mark.parametrize("family", OTHERS)
def test_of_a_guessed_map_what_holds_is_kept_and_the_rest_explained(family):
    subject = Subject(tiny(family))
    assert subject.anatomy.guessed
    assert faults(subject) == {}
    assert {"embedding", "residual", "logits"} <= {s for s in SITES if subject.observable(s)}
    for site in SITES:
        if not subject.observable(site):
            assert subject.anatomy.notes[site]


SITES = tuple(site for site in TAPPABLE if site != "module")


def test_a_stream_to_which_a_share_is_added_is_found_out():
    subject = Subject(tiny("granite"))
    assert not subject.observable("attention_output")
    assert "the stream's sum at layer 0 is off by" in subject.anatomy.why_not("attention_output")
    assert "readout" in subject.anatomy.claims


def test_relatives_of_known_structure_are_mapped_whole():
    subject = Subject(tiny("stablelm"))
    assert subject.observable("mlp_activation")
    assert subject.head_weights(0).output.shape == (4, 32, 8)


def test_a_model_of_which_even_the_stream_is_not_seen_shows_its_modules():
    model = tiny("gptj")
    guess = read_anatomy(model)
    wrong = replace(guess, sites={**guess.sites, "residual": tuple(Spot(f"{b}.ln_9") for b in guess.blocks)})
    assert Subject(model, wrong).anatomy.blocks == ()


def test_a_map_of_ones_own_is_checked_like_any():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rows = torch.nn.Embedding(7, 4)
            self.blocks = torch.nn.ModuleList([torch.nn.Linear(4, 4)])

        def forward(self, tokens):
            return self.blocks[0](self.rows(tokens)) @ self.rows.weight.T

    said = {
        "family": "mine", "layers": 1, "heads": 1, "width": 4, "vocabulary": 7, "context": 8,
        "blocks": ("blocks.0",), "attention": (), "readout": Readout("rows"),
        "sites": {"logits": (Spot(""),)},
    }  # fmt: skip
    subject = Subject(Model(), Anatomy(**said, claims=frozenset({"embedding", "readout"})))
    assert subject.run(tokens(2, 5) % 7).shape == (2, 5, 7)
    with pytest.raises(NotObservable, match="head"):
        subject.head_weights(0)
    projections = Projections("query", "key", "value", "output")
    with pytest.raises(NotObservable, match="head: "):
        Subject(Model(), Anatomy(**said, projections=projections))

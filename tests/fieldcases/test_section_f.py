"""Section F of the field cases: hooks, attention, tokens, losses. One test a case, named after it."""

import gc
import json
import os
import weakref

import pyarrow.parquet as pq
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

import tiny_recipe
from ontogeny.anatomy import Anatomy, Spot
from ontogeny.catalogue import part
from ontogeny.errors import BadContract, NotObservable
from ontogeny.evidence import EVIDENCE, View
from ontogeny.evidence import token_loss as token_losses
from ontogeny.evidence.token_loss import TokenLoss
from ontogeny.measure import measure
from ontogeny.measure.facts import TextFacts
from ontogeny.measure.fused_pass import Watcher, fused_pass
from ontogeny.record.grade import compared, first_digests
from ontogeny.record.train import train
from ontogeny.series import Series
from ontogeny.sources import read_tokenizer
from ontogeny.subject import Subject
from ontogeny.testing import tiny_subject, tiny_units
from ontogeny.vocabulary import Place, Status, Stimulus
from tiny_families import tiny, tokens

pytest.importorskip("transformers")
LOOK = {"residual": lambda place, tensor: None}


# F61: hooks and compiled models


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, stream):
        return stream + self.inner(stream).relu()


class Stack(nn.Module):
    """Small, and without the shape checks that tests put on our own decoder: those cannot be compiled."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(61, 4)
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, tokens):
        stream = self.embedding(tokens)
        for block in self.blocks:
            stream = block(stream)
        return stream


def stack() -> Subject:
    blocks = ("blocks.0", "blocks.1")
    sites = {"mlp_output": tuple(Spot(f"{block}.inner") for block in blocks)}
    sizes = {"layers": 2, "heads": 1, "width": 4, "vocabulary": 61, "context": 24}
    torch._dynamo.reset()
    return Subject(Stack(), Anatomy("stack", **sizes, blocks=blocks, attention=(), sites=sites))


def test_f61_hooks_after_compile_are_refused():
    subject = stack()
    plain = subject.run(tokens())
    subject.model.compile(backend="eager")
    with torch.no_grad():
        subject.model(tokens())  # compiled now: hooks registered later would never fire
    with pytest.raises(NotObservable, match="hooks do not fire") as caught, subject.watching(LOOK):
        pytest.fail("nothing may run here")
    assert "compiled: the model" in str(caught.value)
    assert "attach before compiling" in str(caught.value)
    call = subject.model._compiled_call_impl
    assert torch.equal(subject.run(tokens(), taps=LOOK), plain), "a measurement runs uncompiled"
    assert subject.model._compiled_call_impl is call, "and leaves the model compiled"


def test_f61_a_layer_compiled_apart_is_refused_too():
    subject = stack()
    subject.model.blocks[1].compile(backend="eager")
    with torch.no_grad():
        subject.model(tokens())
    with (
        pytest.raises(NotObservable, match=r"compiled: blocks\.1"),
        subject.watching({"mlp_output": LOOK["residual"]}),
    ):
        pytest.fail("nothing may run here")
    seen = []
    subject.run(tokens(), taps={"mlp_output": lambda place, tensor: seen.append(place)})
    assert seen == [Place(layer=0), Place(layer=1)]


def test_f61_taps_attached_before_compiling_fire():
    subject, seen = stack(), []
    with subject.watching({"residual": lambda place, tensor: seen.append(place)}), torch.no_grad():
        subject.model.compile(backend="eager")
        subject.model(tokens())
    assert seen == [Place(layer=0), Place(layer=1)]


def test_f61_a_compiled_wrapper_is_run_as_what_it_wraps():
    model = stack().model
    subject = Subject(torch.compile(model, backend="eager"))
    assert subject.model is model
    assert set(subject.parameters()) == {name for name, _ in model.named_parameters()}


# F62: passes repeated for the backward pass


def switches(model):
    """Checkpointing on and off; what older releases of transformers call `gradient` is `activation` now."""
    kind = "activation" if hasattr(model, "activation_checkpointing_enable") else "gradient"
    return (getattr(model, f"{kind}_checkpointing_{name}") for name in ("enable", "disable"))


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("site", ["residual", "mlp_activation", "attention", "value"])
def test_f62_recomputed_passes_are_not_counted_again(reentrant, site):
    model = tiny("llama")
    model.train()
    enable, disable = switches(model)
    enable({"use_reentrant": reentrant})
    seen, gradients = [], []
    for checkpointed in (True, False):
        if not checkpointed:
            disable()
        model.zero_grad()
        with Subject(model, check=False).watching({site: lambda place, tensor: seen.append(place)}):
            embedded = model.model.embed_tokens(tokens()).requires_grad_()
            model(inputs_embeds=embedded).logits.square().mean().backward()
        gradients.append(model.model.layers[0].mlp.up_proj.weight.grad.clone())
    assert seen == [Place(layer=0), Place(layer=1)] * 2
    torch.testing.assert_close(*gradients)


def test_f62_a_shared_layer_is_seen_at_each_of_its_places():
    model = tiny_subject(vocabulary=61).model
    model.blocks[1] = model.blocks[0]
    found = {}
    subject = Subject(model)
    subject.run(tokens(), taps={"residual": lambda place, tensor: found.update({place: tensor})})
    assert list(found) == [Place(layer=0), Place(layer=1)]
    assert not torch.equal(*found.values())


# F63, F64: what is kept alive


def test_f63_no_tensor_outlives_its_pass():
    subject, alive = tiny_subject(vocabulary=61), []
    (unit,) = tiny_units(part("instrument", "heldout_loss"))
    kinds = [("residual_norms", "residual"), ("attention_entropies", "attention"), ("token_loss", "logits")]
    watchers = [Watcher(name, at, EVIDENCE[name][at].make) for name, at in kinds]
    keep = {
        site: lambda place, tensor: alive.append(weakref.ref(tensor)) for site in ("residual", "attention")
    }
    with subject.watching(keep):
        fused_pass(subject, unit.stimulus, watchers)
    gc.collect()
    assert len(alive) >= 4
    assert not any(reference() is not None for reference in alive)


def test_f63_hooks_are_gone_after_any_exit():
    subject = tiny_subject(vocabulary=61)
    everything = dict.fromkeys(("residual", "attention", "mlp_output", "logits"), LOOK["residual"])

    def fails():
        with subject.watching(everything):
            subject.model(tokens())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in subject.model.modules())


def test_f64_second_derivatives_under_taps_leave_nothing_alive():
    subject, alive = tiny_subject(vocabulary=61), []
    remember = lambda place, tensor: alive.append(weakref.ref(tensor))
    watched = {
        "residual": remember,
        "attention": remember,
    }  # eager: the fused kernel has no second derivative
    with subject.watching(watched):
        loss = subject.model(tokens()).square().mean()
        parameters = [p for p in subject.model.parameters() if p.requires_grad]
        gradients = torch.autograd.grad(loss, parameters, create_graph=True)
        sum(g.square().sum() for g in gradients).backward()
    assert not any(m._backward_hooks or m._backward_pre_hooks for m in subject.model.modules())
    del loss, gradients
    gc.collect()
    assert len(alive) == 4
    assert not any(reference() is not None for reference in alive)


# F65, F66: beginning tokens


def tokenizer_folder(folder, *, opens: bool):
    """Words as tokens; `<s>` is declared the beginning, and put there only where `opens`."""
    words = {word: number for number, word in enumerate(["<s>", "?", *(f"w{n}" for n in range(40))])}
    pipeline = Tokenizer(models.WordLevel(words, unk_token="?"))
    pipeline.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if opens:
        pipeline.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 0)])
    folder.mkdir()
    pipeline.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>"}))
    return folder


TEXT = " ".join(f"w{n % 37}" for n in range(400))


@pytest.mark.parametrize("opens", [True, False], ids=["opened", "not opened"])
def test_f65_the_beginning_token_is_there_as_often_as_the_tokenizer_puts_it(tmp_path, opens):
    folder = tokenizer_folder(tmp_path / "tokenizer", opens=opens)
    (tmp_path / "text").write_text(TEXT)
    facts = TextFacts(tiny_subject(), folder, tmp_path / "text")
    rows, _ = facts.heldout(10, 40)
    assert int((rows == 0).sum()) == int(opens)
    assert facts.beginning() == (0 if opens else None)
    screened = part("stimulus", "repeated_tokens").make(facts).tokens
    assert bool((screened[:, 0] == 0).all()) == opens, "heads are screened behind it, where there is one"
    assert not opens or int((screened == 0).sum()) == len(screened)


def test_f65_a_model_is_fed_the_tokens_it_is_given_and_no_others():
    subject, fed = Subject(tiny("llama")), []
    subject.model.config.bos_token_id = 1
    handle = subject.model.model.embed_tokens.register_forward_pre_hook(lambda _, given: fed.append(given[0]))
    logits = subject.run(tokens())
    handle.remove()
    assert len(fed) == 1
    assert torch.equal(fed[0], tokens())
    assert logits.shape[1] == tokens().shape[1]


def test_f66_a_first_token_that_is_no_beginning_is_kept(tmp_path):
    folder = tokenizer_folder(tmp_path / "tokenizer", opens=False)
    tokenizer = read_tokenizer(folder)
    assert tokenizer.bos is None, "declared, but never put there"
    assert tokenizer.encode(["w5 w6"])[0].tolist() == [7, 8]
    (tmp_path / "text").write_text(TEXT)
    rows, weights = TextFacts(tiny_subject(), folder, tmp_path / "text").heldout(10, 40)
    assert rows[0, :3].tolist() == [2, 3, 4]
    assert bool((weights[:, :-1] == 1).all()), "the first token is predicted from like any other"


# F67: which path a number was computed on


def test_f67_passes_keep_no_cache_and_say_how_they_were_computed():
    subject, caches = Subject(tiny("llama")), []
    handle = subject.model.model.layers[0].register_forward_pre_hook(
        lambda _, args, named: caches.append(named.get("cache")), with_kwargs=True
    )
    subject.run(tokens())
    handle.remove()
    assert caches == [None]
    said = subject.conditions()
    assert (said["cache"], said["dtype"], said["kernel"]) == (False, "float32", "sdpa")
    low = Subject(tiny("llama").to(torch.bfloat16))
    assert low.conditions()["dtype"] == "bfloat16"
    assert (low.run(tokens()).float() - subject.run(tokens())).abs().max() > 1e-2


@pytest.mark.parametrize(("family", "kernel"), [("llama", "sdpa"), ("gpt2", "eager")])
def test_f67_rows_say_how_they_were_computed(tmp_path, family, kernel):
    model = tiny(family, attn_implementation=kernel)
    series = Series.of(lambda step: model, [1, 2], name=family, home=tmp_path)
    assert measure(series, ["stable_rank", "residual_norm"]) == 2
    (rows,) = (tmp_path / "rows").glob("*.parquet")
    said = pq.read_schema(rows).metadata
    expected = {"dtype": "float32", "kernel": kernel, "cache": "False", "threads": "1"}
    assert {name: said[name.encode()].decode() for name in expected} == expected
    assert said[b"transformers"]


# F68: documents packed into one row


@pytest.mark.parametrize("family", ["gpt2", "llama", "gpt_neox", "bert"])
@pytest.mark.parametrize("taps", [{}, {"attention": lambda place, x: None}], ids=["plain", "patterns"])
def test_f68_packed_documents_do_not_see_each_other(family, taps):
    subject = Subject(tiny(family))
    documents = torch.tensor([[0] * 9 + [1] * 15] * 3)
    packed = subject.run(tokens(), documents=documents, taps=taps)
    other = tokens()
    other[:, :9] = (other[:, :9] + 1) % 61
    torch.testing.assert_close(subject.run(other, documents=documents, taps=taps)[:, 9:], packed[:, 9:])
    alone = subject.run(tokens()[:, 9:])
    torch.testing.assert_close(packed[:, 9:], alone, atol=2e-5, rtol=1e-5)
    assert (subject.run(other)[:, 9:] - subject.run(tokens())[:, 9:]).abs().max() > 1e-2, "a row leaks"


def test_f68_positions_that_restart_are_refused_without_documents():
    positions = torch.tensor([[*range(9), *range(15)]] * 3)
    for subject in (Subject(tiny("llama")), tiny_subject(vocabulary=61)):
        with pytest.raises(BadContract, match="documents packed there would still see each other"):
            subject.run(tokens(), positions=positions)
    documents = torch.tensor([[0] * 9 + [1] * 15] * 3)
    with pytest.raises(BadContract, match="both documents and padding"):
        Subject(tiny("llama")).run(tokens(), documents=documents, mask=documents)
    with pytest.raises(NotObservable, match="attends over the whole row"):
        tiny_subject(vocabulary=61).run(tokens(), documents=documents)
    with pytest.raises(NotObservable, match="sliding window"):
        Subject(tiny("mistral")).run(tokens(), documents=documents)


# F69, F70: losses


def test_f69_without_a_target_there_is_no_loss_and_no_nan():
    ignored = TokenLoss(torch.ones(2, 5), torch.zeros(2, 5))
    reading = part("instrument", "heldout_loss").make(ignored)
    assert reading.status is Status.NO_TARGET
    assert reading.n == 0
    counted = TokenLoss(torch.ones(2, 5), torch.eye(2, 5))
    assert float(part("instrument", "heldout_loss").make(counted).value) == 1


class Largest(TorchDispatchMode):
    """The largest tensor that any operation gives, in elements; views give nothing new."""

    def __init__(self):
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        output = function(*args, **(kwargs or {}))
        given = {a.untyped_storage().data_ptr() for a in args if isinstance(a, torch.Tensor)}
        for tensor in output if isinstance(output, tuple | list) else [output]:
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage().data_ptr() not in given:
                self.elements = max(self.elements, tensor.numel())
        return output


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_f70_losses_of_a_large_vocabulary_are_taken_piece_by_piece(monkeypatch, dtype):
    monkeypatch.setattr(token_losses, "CHUNK", 5000)
    vocabulary, shape = 1000, (3, 12)
    rng = torch.Generator().manual_seed(0)
    logits = torch.randn(*shape, vocabulary, generator=rng).to(dtype)
    weights = torch.ones(shape)
    stimulus = Stimulus("heldout", torch.randint(vocabulary, shape, generator=rng), weights)
    reducer = EVIDENCE["token_loss"]["logits"].make()
    view = View(logits, stimulus, slice(0, 3), Place())
    with Largest() as largest:
        found = reducer.finish(reducer.update(reducer.init(view), view))
    assert largest.elements <= 5000 < logits.numel()
    expected = nn.functional.cross_entropy(
        logits[:, :-1].flatten(0, 1).float(), stimulus.tokens[:, 1:].flatten(), reduction="none"
    )
    torch.testing.assert_close(found.loss, expected.view(3, 11), atol=0, rtol=0)


# F71: what a strict flag promises is tried


class NoisyProduct(torch.autograd.Function):
    """A product whose gradient is not the same twice, whatever flag is set: sums in an order of chance."""

    strength = 0.0

    @staticmethod
    def forward(ctx, left, right):
        ctx.save_for_backward(left, right)
        return left @ right

    @staticmethod
    def backward(ctx, *gradients):
        (given,) = gradients
        left, right = ctx.saved_tensors
        chance = int.from_bytes(os.urandom(4), "little") / 2**32
        return given @ right.mT * (1 + NoisyProduct.strength * chance), left.mT @ given


def attended(query, key, value, is_causal, enable_gqa):
    scores = NoisyProduct.apply(query, key.mT) / query.shape[-1] ** 0.5
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -torch.inf).softmax(-1) @ value


@pytest.mark.parametrize(("strength", "letter"), [(0.0, "E"), (1e-3, "S")])
def test_f71_a_grade_is_what_repeating_gave_and_not_what_a_flag_says(tmp_path, monkeypatch, strength, letter):
    monkeypatch.setattr(nn.functional, "scaled_dot_product_attention", attended)
    monkeypatch.setattr(NoisyProduct, "strength", strength)
    torch.use_deterministic_algorithms(True)
    try:
        run = train(tiny_recipe.tiny(training={"steps": 4}), tmp_path / "run", grade=False)
        grade = compared(run, first_digests(run, 3))
    finally:
        torch.use_deterministic_algorithms(False)
    assert grade.letter == letter, grade.reason
    assert letter == "E" or "gave other bits" in grade.reason

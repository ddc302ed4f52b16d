"""Section D of the field cases: names, weights, optimizer state. One test a case, named after it."""

import json
import math

import pytest
import torch
from safetensors.torch import load_file, save_file, save_model
from torch import nn
from torch.testing._internal.distributed.fake_pg import FakeStore

from foreign_folders import GPT2, decoder, foreign_folder, foreign_state, nanogpt_file, opening_here
from ontogeny import formats
from ontogeny.errors import ForeignCheckpoint
from ontogeny.formats import Weights
from ontogeny.formats.adapter_names import base_state, target_of
from ontogeny.formats.canonical import canonical_state, require_values
from ontogeny.measure.facts import TextFacts
from ontogeny.numerics.norms import squares
from ontogeny.numerics.spectra import singular_values
from ontogeny.record.recorder import Recorder
from ontogeny.record.restoring import restore_state
from ontogeny.sources.tokenizer import byte_tokenizer
from ontogeny.store.run import Run
from ontogeny.subject import load_subject, subject_of
from ontogeny.subject.filling import fill
from ontogeny.vocabulary import Counters, Reading, TrainingState, digest

TOKENS = torch.randint(61, (2, 16), generator=torch.Generator().manual_seed(0))


def layers(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


def recorded(path, model, optimizer, steps=4, before=lambda step: None, checkpoints=(2,)) -> Run:
    """A short recorded training of `model`; `before` is what the loop does ahead of a step."""
    with Recorder(path, model, optimizer, checkpoints=set(checkpoints)) as recorder:
        for step in range(steps):
            before(step)
            optimizer.zero_grad()
            loss = (
                model(torch.randn(16, 6, generator=torch.Generator().manual_seed(step))).abs().square().mean()
            )
            loss.backward()
            optimizer.step()
            recorder.step(loss)
    return Run.open(path)


def test_f38_a_compiled_nanogpt_checkpoint_opens(tmp_path, monkeypatch):
    """`_orig_mod.` breaks resume: canonical names, and what was stripped is told."""
    model = decoder(**GPT2)
    nanogpt_file(tmp_path / "ckpt.pt", model, prefix="_orig_mod.")
    weights = formats.read(tmp_path / "ckpt.pt", trust=opening_here(monkeypatch))
    assert any(note.startswith("stripped _orig_mod. from") for note in weights.notes)
    with torch.no_grad():
        assert torch.equal(load_subject(weights).run(TOKENS), model(TOKENS))


def test_f39_nothing_matched_is_refused_with_both_sides(tmp_path):
    """A user deletes prefixed keys rather than renaming them, and trains on from random weights."""
    tensors = foreign_folder(tmp_path / "a", decoder())
    save_file({f"student/{name}": t for name, t in tensors.items()}, tmp_path / "a" / "model.safetensors")
    pytest.importorskip("transformers")
    with pytest.raises(ForeignCheckpoint) as raised:
        load_subject(tmp_path / "a")
    said = str(raised.value)
    assert "student/model.embed_tokens.weight" in said.split("the model has")[0]
    assert "model.embed_tokens.weight" in said.split("the model has")[1]
    model = layers()
    before = digest(list(model.state_dict().values()))
    with pytest.raises(ForeignCheckpoint, match="none of the names"):
        fill(model, Weights({"other": torch.ones(2)}), "a")
    assert digest(list(model.state_dict().values())) == before


def test_f40_wrapped_and_bare_have_one_hash(tmp_path):
    """`module.` of data parallelism: the same weights give the same hash."""
    model = layers()
    bare = Weights(canonical_state(model.state_dict()).tensors)
    wrapped = canonical_state(nn.DataParallel(model).state_dict())
    assert wrapped.notes == ("stripped module. from 4 names",)
    assert Weights(wrapped.tensors).hash == bare.hash
    save_file(dict(nn.DataParallel(model).state_dict()), tmp_path / "wrapped.safetensors")
    assert formats.read(tmp_path / "wrapped.safetensors").hash == bare.hash
    hashes = {
        recorded(tmp_path / str(i), held, torch.optim.SGD(held.parameters(), lr=0.1)).checkpoints[0].hash
        for i, held in enumerate((layers(), nn.DataParallel(layers())))
    }
    assert len(hashes) == 1


def test_f41_nested_prefixes_and_a_partly_filled_model(tmp_path):
    """Nested wrappers in any order; a model of which a part would stay random is not measured."""
    tensors = foreign_folder(tmp_path / "a", decoder())
    expected = formats.read(tmp_path / "a").hash
    orders = (
        "_orig_mod.module.",
        "module._orig_mod.",
        "module._fsdp_wrapped_module._checkpoint_wrapped_module.",
    )
    for prefix in orders:
        named = {prefix + name.replace("layers.1.", "layers.1.module."): t for name, t in tensors.items()}
        save_file(named, tmp_path / "a" / "model.safetensors")
        assert formats.read(tmp_path / "a").hash == expected
    pytest.importorskip("transformers")
    partly = {name: t for name, t in tensors.items() if "layers.1.mlp" not in name}
    save_file(partly, tmp_path / "a" / "model.safetensors")
    with pytest.raises(ForeignCheckpoint, match=r"missing_keys: model\.layers\.1\.mlp\.down_proj\.weight"):
        load_subject(tmp_path / "a")


def test_f42_a_tie_is_stored_once_restored_and_counted_once(tmp_path):
    """Tied embeddings that are refused as shared memory elsewhere."""
    model = decoder()
    assert model.config.tied
    tensors = foreign_folder(tmp_path / "a", model)
    weights = formats.read(tmp_path / "a")
    assert weights.parameters == sum(parameter.numel() for parameter in model.parameters())
    tied = canonical_state(tensors | {"lm_head.weight": tensors["model.embed_tokens.weight"]})
    assert tied.aliases == {"lm_head.weight": "model.embed_tokens.weight"}
    assert Weights(tied.tensors).hash == weights.hash
    subject = load_subject(Weights(tied.tensors, formats.read(tmp_path / "a").config, tied.aliases))
    assert subject.model.get_input_embeddings().weight is subject.model.get_output_embeddings().weight
    own = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    own[1].weight = own[0].weight
    save_model(own, str(tmp_path / "own.safetensors"))
    assert formats.read(tmp_path / "own.safetensors").parameters == 16


def test_f43_values_that_are_elsewhere_are_refused_by_cause(tmp_path):
    """Every tensor appears shared and none owns its storage: partitioned, meta and flat are told apart."""
    with torch.device("meta"):
        meta = layers()
    with pytest.raises(ForeignCheckpoint, match=r"meta device.*0\.bias, 0\.weight"):
        subject_of(meta)
    partitioned = {name: torch.empty(0) for name in layers().state_dict()}
    save_file(partitioned, tmp_path / "rank0.safetensors")
    with pytest.raises(ForeignCheckpoint, match=r"partitioned.*0\.bias, 0\.weight"):
        formats.read(tmp_path / "rank0.safetensors")
    save_file({"_fsdp_wrapped_module._flat_param": torch.ones(83)}, tmp_path / "flat.safetensors")
    with pytest.raises(ForeignCheckpoint, match=r"flat buffers of FSDP.*_flat_param"):
        formats.read(tmp_path / "flat.safetensors")
    whole = torch.arange(83.0)
    views = {"a": whole[:48].view(8, 6), "b": whole[48:56], "c": whole[56:80].view(3, 8), "d": whole[80:]}
    found = canonical_state(views)
    assert not found.aliases, "views of one buffer have values of their own and are not ties"
    assert torch.equal(found.tensors["c"], whole[56:80].view(3, 8))


def test_f44_optimizer_state_is_by_name_and_new_groups_are_events(tmp_path):
    """Groups grow when layers unfreeze, and later checkpoints do not load."""

    def made() -> tuple[nn.Sequential, torch.optim.Optimizer]:
        model = layers()
        model[0].requires_grad_(False)
        return model, torch.optim.AdamW(model[2].parameters(), lr=0.02)

    model, optimizer = made()

    def unfreeze(step: int) -> None:
        if step == 1:
            model[0].requires_grad_(True)
            optimizer.add_param_group({"params": list(model[0].parameters()), "lr": 0.005})

    run = recorded(tmp_path / "run", model, optimizer, before=unfreeze, checkpoints=(3,))
    (event,) = [note for note in run.notes if note.kind == "groups"]
    assert event.data["parameters"] == [["2.weight", "2.bias"], ["0.weight", "0.bias"]]
    fresh, late = made()
    restore_state(TrainingState(model=fresh, optimizer=late, counters=Counters()), run.checkpoints[-1])
    assert [group["lr"] for group in late.param_groups] == [0.02, 0.005]
    assert set(late.state) == set(fresh.parameters())


def test_f45_optimizer_entries_have_names(tmp_path):
    """State that cannot be matched because its entries are numbers."""
    model = layers()
    run = recorded(tmp_path / "run", model, torch.optim.AdamW(model.parameters(), lr=0.02))
    document = run.checkpoints[0].document("state")["optimizer"]
    assert set(document["state"]) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    names = set(run.checkpoints[0].tensors("optimizer"))
    assert "optimizer/state/0.weight/exp_avg" in names


def test_f46_base_weights_are_comparable_however_an_adapter_is_attached():
    """The same adapter attached through PEFT's wrapper, and injected, gives different layer names."""
    base = foreign_state(decoder())[1]
    bare = Weights(canonical_state(base).tensors)
    low = {"lora_A.default.weight": torch.ones(2, 32), "lora_B.default.weight": torch.ones(32, 2)}
    for prefix in ("base_model.model.", ""):
        wrapped = {}
        for name, tensor in base.items():
            module, leaf = name.rsplit(".", 1)
            aimed = name.endswith("q_proj.weight")
            wrapped[f"{prefix}{module}.base_layer.{leaf}" if aimed else f"{prefix}{name}"] = tensor
            if aimed:
                wrapped |= {f"{prefix}{module}.{end}": matrix for end, matrix in low.items()}
        assert Weights(base_state(wrapped)).hash == bare.hash
        places = {found.base for n in wrapped if "lora_" in n and (found := target_of(n, base))}
        assert places == {name for name in base if name.endswith("q_proj.weight")}


@pytest.mark.parametrize("adapter", ["lora", "lora_A", "lora_B", "default"])
def test_f47_an_adapters_name_may_collide_with_the_prefix(tmp_path, adapter):
    """An adapter called "lora": matched by place in the name, not by substring."""
    base = foreign_folder(tmp_path / "base", decoder())
    name = "model.layers.1.self_attn.v_proj"
    down, up = torch.randn(2, 32), torch.randn(16, 2)
    (tmp_path / adapter).mkdir()
    config = {"peft_type": "LORA", "base_model_name_or_path": "../base", "r": 2, "lora_alpha": 4}
    (tmp_path / adapter / "adapter_config.json").write_text(json.dumps(config))
    matrices = {f"{kind}.{adapter}": t for kind, t in (("lora_A", down), ("lora_B", up))}
    save_file(
        {f"base_model.model.{name}.{kind}.weight": tensor for kind, tensor in matrices.items()},
        tmp_path / adapter / "adapter_model.safetensors",
    )
    merged = formats.read(tmp_path / adapter)
    changed = {n for n, h in merged.hashes.items() if h != formats.read(tmp_path / "base").hashes[n]}
    assert changed == {f"{name}.weight"}
    torch.testing.assert_close(merged.tensors[f"{name}.weight"], base[f"{name}.weight"] + 2 * up @ down)


def test_f48_optimizer_state_does_not_depend_on_the_wrapping(tmp_path):
    """Optimizer ids depend on FSDP's wrapping: names are those of the bare model, and load into it."""
    wrapped = nn.DataParallel(layers())
    run = recorded(tmp_path / "run", wrapped, torch.optim.AdamW(wrapped.parameters(), lr=0.02))
    bare = layers(1)
    optimizer = torch.optim.AdamW(bare.parameters(), lr=0.5)
    restore_state(TrainingState(model=bare, optimizer=optimizer, counters=Counters()), run.checkpoints[-1])
    moments = run.checkpoints[-1].tensors("optimizer")
    for name, parameter in bare.named_parameters():
        assert torch.equal(optimizer.state[parameter]["exp_avg"], moments[f"optimizer/state/{name}/exp_avg"])


def test_f48_the_world_size_is_recorded(tmp_path):
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
    run = recorded(tmp_path / "run", model := layers(), torch.optim.SGD(model.parameters(), lr=0.1))
    torch.distributed.destroy_process_group()
    assert run.identity["environment"]["processes"] == 4


def test_f49_a_scalar_parameter_is_a_tensor_like_any_other(tmp_path):
    """Stored, normed and hashed; of spectra it says that it is no matrix."""
    scale = torch.tensor(-1.5)
    save_file({"scale": scale, "w": torch.ones(2, 3)}, tmp_path / "a.safetensors")
    weights = formats.read(tmp_path / "a.safetensors")
    assert weights.shapes["scale"] == ()
    assert weights.hashes["scale"] == f"{digest([scale]):016x}"
    assert squares([weights.tensors["scale"]]) == [2.25]
    found = singular_values(weights.tensors["scale"])
    assert isinstance(found, Reading)
    assert "matrix" in found.reason


def test_f50_rows_and_tokenizer_lengths_are_both_told_and_never_made_equal(tmp_path):
    """Embedding rows that no token reaches: told, kept, and not drawn in stimuli."""
    foreign_folder(tmp_path / "a", decoder(vocabulary=304))
    byte_tokenizer().save(tmp_path / "a")
    weights = formats.read(tmp_path / "a")
    lengths = formats.lengths_of(weights)
    assert (lengths.rows, lengths.tokens, lengths.unused, lengths.unreachable) == (304, 256, 48, 0)
    assert weights.shapes["model.embed_tokens.weight"] == (304, 32)
    pytest.importorskip("transformers")
    subject = load_subject(tmp_path / "a")
    assert subject.model.get_input_embeddings().weight.shape == (304, 32)
    assert TextFacts(subject, tmp_path / "a", None).vocabulary == 256
    tensors = load_file(tmp_path / "a" / "model.safetensors")
    tensors["model.embed_tokens.weight"] = tensors["model.embed_tokens.weight"][:256].clone()
    save_file(tensors, tmp_path / "a" / "model.safetensors")
    with pytest.raises(ForeignCheckpoint, match=r"embed_tokens\.weight"):
        load_subject(tmp_path / "a")


def test_f51_complex_parameters_are_kept_and_normed_by_modulus(tmp_path, monkeypatch):
    """An L2 norm that is wrong for complex parameters."""
    turn = torch.tensor([3 + 4j, 0 - 2j])
    torch.save({"turn": turn}, tmp_path / "a.pt")
    save_file({"turn": turn}, tmp_path / "a.safetensors")
    pickled = formats.read(tmp_path / "a.pt", trust=opening_here(monkeypatch))
    for weights in (pickled, formats.read(tmp_path / "a.safetensors")):
        assert weights.dtypes["turn"] is torch.complex64
        assert torch.equal(weights.tensors["turn"], turn)
        assert weights.hashes["turn"] == f"{digest([turn]):016x}"
        assert math.isclose(squares([weights.tensors["turn"]])[0], 29.0, rel_tol=1e-6)


def test_f52_lazy_parameters_are_waited_for_and_the_moment_is_told(tmp_path):
    """Uninitialised parameters crash a watcher: here a recorder waits, and a subject is refused."""
    model = nn.Sequential(nn.LazyLinear(8), nn.Tanh(), nn.Linear(8, 3))
    with pytest.raises(ForeignCheckpoint, match=r"lazy.*0\.bias, 0\.weight"):
        require_values(model.state_dict(keep_vars=True))
    run = recorded(
        tmp_path / "run", model, torch.optim.AdamW(model.parameters(), lr=0.02), checkpoints=(0, 2)
    )
    (note,) = [note for note in run.notes if note.kind == "materialised"]
    assert note.data == {"step": 1, "parameters": ["0.weight", "0.bias"]}
    assert "0.weight" not in run.checkpoints[0].tensors("model")
    assert run.checkpoints[1].tensors("model")["0.weight"].shape == (8, 6)

import json
import math
import os

import pytest
import torch
from safetensors.torch import load_file

from ontogeny.errors import BadContract, Damaged, NotARun, OntogenyError, RunExists, UnknownName
from ontogeny.store import files
from ontogeny.store.checkpoint import list_checkpoints, open_checkpoint, write_checkpoint
from ontogeny.store.files import Damage
from ontogeny.store.tensorfile import read_header
from ontogeny.vocabulary import digest


def raw(tensor):
    return tensor.contiguous().view(-1).view(torch.uint8).tolist() if tensor.numel() else []


def same(a, b):
    return (a.dtype, a.shape, raw(a.resolve_conj())) == (b.dtype, b.shape, raw(b.resolve_conj()))


def weights(seed=0):
    rng = torch.Generator().manual_seed(seed)
    base = torch.randn(12, 8, generator=rng)
    return {
        "z": base,
        "view": base[2:5].t(),
        "tied": base,
        "scalar": torch.tensor(7),
        "empty": torch.empty(0, 3),
        "c64": torch.randn(3, dtype=torch.complex64, generator=rng),
        "conj": torch.randn(2, 3, dtype=torch.complex128, generator=rng).conj(),
        "complex scalar": torch.tensor(1 - 2j),
        "bool": torch.tensor([True, False]),
        "bf16": torch.randn(5, generator=rng).bfloat16(),
        "nonfinite": torch.tensor([math.nan, math.inf, -math.inf, -0.0, 1e-45]),
        "payload": torch.tensor([0x7FA12345, -1], dtype=torch.int32).view(torch.float32),
        "\0../CON:é<b>" * 20: torch.ones(1),
        "grad": torch.nn.Parameter(torch.ones(2)),
    }


def write(folder, step=400, seed=0, **options):
    given = {
        "tensors": {"model": weights(seed), "optimizer": {"exp_avg": torch.arange(300.0)}},
        "documents": {"state": {"loss": math.nan, "list": list(range(300))}, "config": {"model_type": "x"}},
        "metadata": {"note": [1, math.inf]},
    }
    return write_checkpoint(folder, step=step, **{**given, **options})


def test_a_checkpoint_comes_back_bit_for_bit(tmp_path):
    manifest = write(tmp_path / "000400")
    checkpoint = open_checkpoint(tmp_path / "000400")
    assert (checkpoint.step, checkpoint.hash, checkpoint.manifest) == (400, manifest.hash, manifest)
    assert manifest.metadata == {"note": [1, math.inf]}
    read = checkpoint.tensors("model")
    assert list(read) == list(weights())
    for name, tensor in weights().items():
        assert same(read[name], tensor.detach())
        assert manifest.tensors["model"][name].hash == f"{digest([tensor.detach().resolve_conj()]):016x}"
    assert checkpoint.document("config") == {"model_type": "x"}
    assert math.isnan(checkpoint.document("state")["loss"])
    assert checkpoint.verify() == []
    assert sorted(os.listdir(tmp_path / "000400")) == [
        "config.json",
        "manifest.json",
        "model.safetensors",
        "optimizer.safetensors",
        "state.json",
    ]
    assert os.listdir(tmp_path) == ["000400"]


def test_the_files_are_what_other_programs_expect(tmp_path):
    write(tmp_path / "a")
    theirs = load_file(tmp_path / "a" / "model.safetensors")
    assert same(theirs["tied"], weights()["tied"])
    assert same(theirs["c64"], torch.view_as_real(weights()["c64"]))
    header = (tmp_path / "a" / "model.safetensors").read_bytes()[8:]
    assert header.startswith(b'{"__metadata__":{"format":"pt"}')
    assert json.loads((tmp_path / "a" / "state.json").read_text())["loss"] == {"nonfinite": "NaN"}


def test_the_manifest_is_written_last(tmp_path, monkeypatch):
    renamed = []
    plain = files.raw_rename
    monkeypatch.setattr(files, "raw_rename", lambda a, b: (renamed.append(b.name), plain(a, b)))
    write(tmp_path / "000400")
    assert renamed[-2:] == ["manifest.json", "000400"]


def test_the_hash_is_of_the_model_its_names_and_nothing_else(tmp_path):
    one = {"a": torch.ones(2), "b": torch.zeros(2)}
    hashes = [
        write(tmp_path / str(number), tensors=tensors, step=number).hash
        for number, tensors in enumerate(
            [
                {"model": one},
                {"model": dict(reversed(one.items())), "optimizer": {"x": torch.ones(1)}},
                {"model": {"a": one["b"], "b": one["a"]}},
                {"model": {"a": one["a"], "b": -one["b"]}},
                {"model": {"a": one["a"].reshape(1, 2), "b": one["b"]}},
            ]
        )
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 4


def test_what_is_read_is_not_the_file(tmp_path):
    write(tmp_path / "a")
    held = open_checkpoint(tmp_path / "a").tensors("model")["z"]
    with open(tmp_path / "a" / "model.safetensors", "r+b") as file:
        file.seek(-2000, 2)
        file.write(b"\xff" * 2000)
    assert same(held, weights()["z"])


def test_a_checkpoint_is_never_overwritten(tmp_path):
    write(tmp_path / "a")
    with pytest.raises(RunExists, match="exists"):
        write(tmp_path / "a", seed=1)
    assert same(open_checkpoint(tmp_path / "a").tensors("model")["z"], weights()["z"])


@pytest.mark.parametrize("key", ["", "..", "a/b", "manifest", "a\0", "é", "a" * 65, ".a"])
def test_parts_are_called_what_a_file_may_be_called(tmp_path, key):
    for options in ({"tensors": {key: {}}}, {"documents": {key: {}}}):
        with pytest.raises(BadContract, match="name"):
            write(tmp_path / "a", **options)
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_stored_leaves_nothing(tmp_path):
    with pytest.raises(BadContract, match="'lazy'"):
        write(tmp_path / "a", tensors={"model": {"lazy": torch.empty(2, device="meta")}})
    with pytest.raises(BadContract, match="document"):
        write(tmp_path / "a", documents={"state": {"x": object()}})
    assert os.listdir(tmp_path) == []


def test_unknown_parts_are_named(tmp_path):
    write(tmp_path / "a")
    checkpoint = open_checkpoint(tmp_path / "a")
    with pytest.raises(UnknownName, match="optimizer"):
        checkpoint.tensors("modle")
    with pytest.raises(UnknownName, match="config"):
        checkpoint.document("manifest")


def test_checkpoints_are_listed_by_step_and_unfinished_ones_are_not(tmp_path):
    for name, step in (("b", 8), ("a", 400), ("c", 12)):
        write(tmp_path / name, step=step)
    (tmp_path / "d").mkdir()
    (tmp_path / "e").write_text("no folder")
    os.rename(tmp_path / "c", tmp_path / ".c.temporary")
    assert [checkpoint.step for checkpoint in list_checkpoints(tmp_path)] == [8, 400]
    with pytest.raises(NotARun, match="no checkpoint"):
        open_checkpoint(tmp_path / "d")
    (tmp_path / "b" / "manifest.json").write_text("{}")
    with pytest.raises(Damaged, match="manifest"):
        list_checkpoints(tmp_path)
    damage: list[Damage] = []
    assert [checkpoint.step for checkpoint in list_checkpoints(tmp_path, damage)] == [400]
    assert [item.file for item in damage] == ["b/manifest.json"]


@pytest.mark.parametrize("stays", [False, True])
def test_the_kth_failure_leaves_no_checkpoint_and_may_be_retried(tmp_path, disk, code, stays):
    write(tmp_path / "first", step=1)
    before = {path.name: path.read_bytes() for path in (tmp_path / "first").iterdir()}
    for at in range(1, 100):
        disk.arm(at, code, stays)
        try:
            write(tmp_path / "second", step=2)
        except OntogenyError:
            assert disk.struck
        else:
            break
        disk.disarm()
        assert os.listdir(tmp_path) == ["first"]
        assert {path.name: path.read_bytes() for path in (tmp_path / "first").iterdir()} == before
    assert at > 20
    assert [checkpoint.verify() for checkpoint in list_checkpoints(tmp_path)] == [[], []]


def tensor_at(checkpoint, place):
    spans = read_header(checkpoint.folder / "model.safetensors")
    return next((name for name, span in spans.items() if span.start <= place < span.end), None)


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_every_flipped_bit_of_tensors_is_found_and_the_tensor_named(tmp_path, flips, count):
    write(tmp_path / "a")
    checkpoint, path = open_checkpoint(tmp_path / "a"), tmp_path / "a" / "model.safetensors"
    names = {place: tensor_at(checkpoint, place) for place in range(path.stat().st_size)}
    for place in flips(path, count):
        damage = checkpoint.verify()
        assert len(damage) >= 1
        assert {item.file for item in damage} == {"model.safetensors"}
        if names[place] is None:  # in the header: padding and metadata carry no tensor, yet are found
            continue
        assert [item.what for item in damage] == [f"tensor {names[place]!r} does not match its hash"]
        with pytest.raises(Damaged, match=r"model\.safetensors"):
            checkpoint.tensors("model")
        assert len(checkpoint.tensors("optimizer")) == 1
    assert checkpoint.verify() == []


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_every_flipped_bit_of_documents_and_manifest_is_found(tmp_path, flips, count):
    write(tmp_path / "a")
    checkpoint = open_checkpoint(tmp_path / "a")
    for _ in flips(tmp_path / "a" / "state.json", count):
        with pytest.raises(Damaged, match=r"state\.json"):
            checkpoint.document("state")
        assert [item.file for item in checkpoint.verify()] == ["state.json"]
        assert checkpoint.document("config") == {"model_type": "x"}
    for _ in flips(tmp_path / "a" / "manifest.json", count):
        with pytest.raises(Damaged, match=r"manifest\.json"):
            open_checkpoint(tmp_path / "a")


def test_files_cut_anywhere_are_refused_by_name(tmp_path, cuts):
    write(tmp_path / "a")
    checkpoint = open_checkpoint(tmp_path / "a")
    for _ in cuts(tmp_path / "a" / "optimizer.safetensors"):
        with pytest.raises(Damaged, match=r"optimizer\.safetensors"):
            checkpoint.tensors("optimizer")
    for _ in cuts(tmp_path / "a" / "state.json"):
        with pytest.raises(Damaged, match=r"state\.json"):
            checkpoint.document("state")
    for _ in cuts(tmp_path / "a" / "manifest.json"):
        with pytest.raises(Damaged, match=r"manifest\.json"):
            open_checkpoint(tmp_path / "a")
    assert open_checkpoint(tmp_path / "a").verify() == []


def test_missing_and_foreign_files_are_named(tmp_path):
    write(tmp_path / "a")
    write(tmp_path / "b", seed=1)
    checkpoint = open_checkpoint(tmp_path / "a")
    (tmp_path / "a" / "model.safetensors").write_bytes((tmp_path / "b" / "model.safetensors").read_bytes())
    assert {"tensor 'z' does not match its hash", "tensor 'c64' does not match its hash"} <= {
        item.what for item in checkpoint.verify()
    }
    other = {"model": {"z": torch.ones(2), "new": torch.ones(1)}}
    write(tmp_path / "c", tensors=other)
    (tmp_path / "a" / "model.safetensors").write_bytes((tmp_path / "c" / "model.safetensors").read_bytes())
    found = {item.what for item in checkpoint.verify()}
    assert {
        "tensor 'z' has become torch.float32 (2,)",
        "tensor 'view' is missing",
        "tensor 'new' is not in the manifest",
    } <= found
    (tmp_path / "a" / "model.safetensors").unlink()
    (tmp_path / "a" / "state.json").unlink()
    assert [item.file for item in checkpoint.verify()] == ["model.safetensors", "state.json"]
    with pytest.raises(Damaged, match=r"model\.safetensors"):
        checkpoint.tensors("model")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_transformers_loads_the_folder_as_it_is(tmp_path):
    import transformers  # seconds to import, and only this test needs it

    config = transformers.LlamaConfig(
        vocab_size=32, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    model = transformers.LlamaForCausalLM(config)
    documents = {"config": json.loads(config.to_json_string(use_diff=False))}
    write(tmp_path / "a", tensors={"model": model.state_dict()}, documents=documents)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "a")
    assert all(torch.equal(loaded.state_dict()[name], value) for name, value in model.state_dict().items())

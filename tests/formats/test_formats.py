"""Formats are recognised by looking, hashed by their bytes, and listed when nothing fits."""

import shutil

import pytest
import torch

from foreign_folders import decoder, foreign_folder, nanogpt_file, own_folder
from ontogeny import formats
from ontogeny.errors import ForeignCheckpoint, Untrusted


def test_every_format_has_a_name_and_says_how_it_is_recognised():
    names = [known.name for known in formats.FORMATS]
    assert len(set(names)) == len(names)
    with pytest.raises(ForeignCheckpoint) as raised:
        formats.recognise("/nowhere")
    assert all(f"{known.name}: {known.looks_like}" in str(raised.value) for known in formats.FORMATS)


def test_a_path_has_the_format_it_looks_like(tmp_path):
    own_folder(tmp_path / "ours", decoder())
    foreign_folder(tmp_path / "theirs", decoder())
    nanogpt_file(
        tmp_path / "ckpt.pt", decoder(norm="layernorm", positions="learned", mlp="gelu", kv_heads=None)
    )
    (tmp_path / "notes.bin").write_bytes(b"no weights here")
    (tmp_path / "empty").mkdir()
    found = {path.name: formats.find(path) for path in tmp_path.iterdir()}
    assert {name: known and known.name for name, known in found.items()} == {
        "ours": "ontogeny",
        "theirs": "transformers",
        "ckpt.pt": "pickle",
        "notes.bin": None,
        "empty": None,
    }
    assert formats.find(tmp_path).name == "pickle", "the folder that holds ckpt.pt is nanoGPT's out_dir"
    with pytest.raises(ForeignCheckpoint, match="an empty folder"):
        formats.recognise(tmp_path / "empty")


def test_the_hash_of_ours_is_the_manifests_and_that_of_the_weights(tmp_path):
    expected = own_folder(tmp_path / "ours", decoder())
    assert formats.hash_of(tmp_path / "ours") == expected == formats.read(tmp_path / "ours").hash


def test_the_hash_of_a_foreign_folder_is_of_weights_and_config_and_of_nothing_else(tmp_path):
    foreign_folder(tmp_path / "step1", decoder())
    first = formats.hash_of(tmp_path / "step1")
    shutil.copytree(tmp_path / "step1", tmp_path / "step2")
    (tmp_path / "step2" / "trainer_state.json").write_text("{}")
    assert formats.hash_of(tmp_path / "step2") == first
    assert {path.name for path in formats.files(tmp_path / "step2")} == {"config.json", "model.safetensors"}
    for name in ("config.json", "model.safetensors"):
        path = tmp_path / "step2" / name
        before = path.read_bytes()
        path.write_bytes(before[:-2] + bytes([before[-2] ^ 1]) + before[-1:])
        assert formats.hash_of(tmp_path / "step2") != first
        path.write_bytes(before)


def test_equal_weights_have_one_hash_in_every_format(tmp_path, trusted):
    model = decoder()
    expected = own_folder(tmp_path / "ours", model)
    tensors = foreign_folder(tmp_path / "theirs", model)
    torch.save({f"module.{name}": tensor for name, tensor in tensors.items()}, tmp_path / "bare.pt")
    assert formats.read(tmp_path / "theirs").hash == expected
    assert formats.read(tmp_path / "bare.pt", trust=trusted).hash == expected


def test_hashing_opens_no_pickle(tmp_path):
    torch.save({"a": torch.ones(2)}, tmp_path / "a.pt")
    assert len(formats.hash_of(tmp_path / "a.pt")) == 16
    with pytest.raises(Untrusted, match="Trust"):
        formats.read(tmp_path / "a.pt")

"""Folders of safetensors: one file, several with an index, and one file by itself."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file, save_model

from foreign_folders import decoder, foreign_folder
from ontogeny import formats
from ontogeny.errors import Damaged, ForeignCheckpoint


def shard(folder) -> list[str]:
    """Cut a folder's one file in two, with an index, as save_pretrained does for large models."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    half = len(tensors) // 2
    files = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    placed = {name: files[i >= half] for i, name in enumerate(tensors)}
    for file in files:
        save_file({name: tensors[name] for name in tensors if placed[name] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": placed}))
    return files


def test_shards_and_one_file_are_the_same_weights(tmp_path):
    foreign_folder(tmp_path / "a", decoder())
    whole = formats.read(tmp_path / "a").hash
    files = shard(tmp_path / "a")
    found = formats.read(tmp_path / "a")
    assert found.hash == whole
    assert found.config["model_type"] == "llama"
    names = {"config.json", "model.safetensors.index.json", *files}
    assert {path.name for path in formats.files(tmp_path / "a")} == names


def test_a_missing_shard_is_named(tmp_path):
    foreign_folder(tmp_path / "a", decoder())
    files = shard(tmp_path / "a")
    (tmp_path / "a" / files[1]).unlink()
    with pytest.raises(ForeignCheckpoint, match=f"missing: {files[1]}"):
        formats.read(tmp_path / "a")


def test_an_index_cannot_name_files_elsewhere(tmp_path):
    foreign_folder(tmp_path / "a", decoder())
    shard(tmp_path / "a")
    index = tmp_path / "a" / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"x": "../../secret.safetensors"}}))
    with pytest.raises(ForeignCheckpoint, match="names files elsewhere"):
        formats.read(tmp_path / "a")
    index.write_text(json.dumps({"weight_map": 3}))
    with pytest.raises(Damaged, match="no index"):
        formats.read(tmp_path / "a")


def test_two_shards_with_one_name_are_refused(tmp_path):
    foreign_folder(tmp_path / "a", decoder())
    files = shard(tmp_path / "a")
    save_file(load_file(tmp_path / "a" / files[0]), tmp_path / "a" / files[1])
    with pytest.raises(ForeignCheckpoint, match="holds tensors twice"):
        formats.read(tmp_path / "a")


def test_one_file_by_itself_takes_the_config_beside_it(tmp_path):
    foreign_folder(tmp_path / "a", decoder())
    alone = formats.read(tmp_path / "a" / "model.safetensors")
    assert alone.config == formats.read(tmp_path / "a").config
    (tmp_path / "a" / "config.json").unlink()
    assert formats.read(tmp_path / "a" / "model.safetensors").config == {}


def test_ties_that_safetensors_noted_are_aliases(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(4, 4, bias=False), torch.nn.Linear(4, 4, bias=False))
    model[1].weight = model[0].weight
    save_model(model, str(tmp_path / "tied.safetensors"))
    weights = formats.read(tmp_path / "tied.safetensors")
    (kept,) = weights.tensors
    assert dict(weights.aliases) == {({"0.weight", "1.weight"} - {kept}).pop(): kept}
    assert weights.parameters == 16


@pytest.mark.parametrize("dtype", [torch.complex64, torch.bfloat16, torch.float8_e4m3fn, torch.int8])
def test_dtypes_of_others_are_kept(tmp_path, dtype):
    tensor = torch.randn(3, 2).to(dtype)
    save_file({"a": tensor, "scale": torch.tensor(2.0).to(dtype)}, tmp_path / "a.safetensors")
    found = formats.read(tmp_path / "a.safetensors")
    assert found.dtypes == {"a": dtype, "scale": dtype}
    assert found.shapes["scale"] == ()
    read = found.tensors["a"]
    assert torch.equal(read.view(torch.uint8), tensor.view(torch.uint8))

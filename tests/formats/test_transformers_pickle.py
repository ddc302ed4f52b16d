"""pytorch_model.bin, whole and in parts, is what the safetensors of the same model are."""

import json

import pytest
import torch
from safetensors.torch import load_file

from foreign_folders import decoder, foreign_folder
from ontogeny import formats
from ontogeny.errors import Untrusted


@pytest.mark.parametrize("parts", [1, 2])
def test_old_folders_are_the_same_weights(tmp_path, trusted, parts):
    foreign_folder(tmp_path / "a", decoder())
    expected = formats.read(tmp_path / "a").hash
    tensors = load_file(tmp_path / "a" / "model.safetensors")
    (tmp_path / "a" / "model.safetensors").unlink()
    if parts == 1:
        torch.save(tensors, tmp_path / "a" / "pytorch_model.bin")
    else:
        placed = {name: f"pytorch_model-{i % 2}.bin" for i, name in enumerate(tensors)}
        for file in set(placed.values()):
            torch.save({n: t for n, t in tensors.items() if placed[n] == file}, tmp_path / "a" / file)
        index = tmp_path / "a" / "pytorch_model.bin.index.json"
        index.write_text(json.dumps({"weight_map": placed}))
    with pytest.raises(Untrusted):
        formats.read(tmp_path / "a")
    found = formats.read(tmp_path / "a", trust=trusted)
    assert found.hash == expected
    assert found.config["model_type"] == "llama"

"""Arrays by content hash."""

import pytest
import torch

from ontogeny.errors import Damaged
from ontogeny.store.arrays import (
    array_hash,
    array_names,
    compact_arrays,
    read_arrays,
    verify_arrays,
    write_arrays,
)


def named(*tensors: torch.Tensor) -> dict:
    return {array_hash(tensor): tensor for tensor in tensors}


@pytest.mark.parametrize(
    "tensor",
    [
        torch.rand(5, 7),
        torch.rand(4, 6).T,
        torch.rand(3).double(),
        torch.arange(6),
        torch.tensor(2.5),
        torch.zeros(0, 3),
        torch.tensor([torch.nan, torch.inf, -0.0]),
        torch.rand(3).bfloat16(),
    ],
    ids=lambda tensor: f"{tensor.dtype} {tuple(tensor.shape)}",
)
def test_bits_shape_and_dtype_come_back(tmp_path, tensor):
    write_arrays(tmp_path, named(tensor))
    (found,) = read_arrays(tmp_path, {array_hash(tensor)}).values()
    assert (found.dtype, found.shape) == (tensor.dtype, tensor.shape)
    assert array_hash(found) == array_hash(tensor)


def test_names_are_of_content_dtype_and_shape():
    tensor = torch.rand(6)
    assert array_hash(tensor) == array_hash(tensor.clone())
    assert len({array_hash(t) for t in (tensor, tensor.view(2, 3), tensor.double(), tensor + 1)}) == 4


def test_only_what_is_asked_for_is_read_and_what_is_missing_is_named(tmp_path):
    one, other = torch.rand(2), torch.rand(3)
    write_arrays(tmp_path, named(one))
    write_arrays(tmp_path, named(other))
    assert set(read_arrays(tmp_path, {array_hash(one)})) == {array_hash(one)}
    assert read_arrays(tmp_path, set()) == {}
    with pytest.raises(Damaged, match="1 arrays are missing"):
        read_arrays(tmp_path, {array_hash(one), "0" * 16})
    assert write_arrays(tmp_path, {}) is None


def test_compaction_keeps_every_array_once(tmp_path):
    tensors = [torch.rand(k + 1) for k in range(5)]
    for k in range(4):
        write_arrays(tmp_path, named(*tensors[k : k + 2]))
    for _ in range(2):
        compact_arrays(tmp_path)
        assert len(list((tmp_path / "arrays").iterdir())) == 1
        assert array_names(tmp_path) == set(named(*tensors))
    found = read_arrays(tmp_path, set(named(*tensors)))
    assert all(torch.equal(found[name], tensor) for name, tensor in named(*tensors).items())


def test_compaction_into_a_pack_that_exists_loses_nothing(tmp_path):
    one, other = torch.rand(2), torch.rand(3)
    write_arrays(tmp_path, named(one))
    write_arrays(tmp_path, named(one, other))
    compact_arrays(tmp_path)
    assert len(list((tmp_path / "arrays").iterdir())) == 1
    assert array_names(tmp_path) == set(named(one, other))


def test_damage_is_found_and_named_wherever_it_is(tmp_path, flips):
    tensor = torch.rand(64)
    path = write_arrays(tmp_path, named(tensor))
    for _ in flips(path, 150):
        with pytest.raises(Damaged, match=rf"{path.name}|missing"):
            read_arrays(tmp_path, {array_hash(tensor)})
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    (damage,) = verify_arrays(tmp_path)
    assert damage.file == f"arrays/{path.name}"

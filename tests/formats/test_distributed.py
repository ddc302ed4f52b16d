"""Shards of torch's distributed checkpoints, read without a process group and without running a pickle."""

import os
import pickle
import warnings

import pytest
import torch
from torch import nn

from ontogeny import formats
from ontogeny.errors import ForeignCheckpoint, Untrusted
from ontogeny.formats.distributed_shards import METADATA, model_names


def save(folder, state):
    from torch.distributed import checkpoint

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that there is one process
        checkpoint.save(state, checkpoint_id=folder, no_dist=True)


def stack() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 6), nn.Linear(6, 2))


def state_of(model):
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 5)).sum().backward()
    optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 7}


def test_the_model_is_gathered_and_the_rest_left_out(tmp_path, trusted):
    model = stack()
    save(tmp_path / "step-7", state_of(model))
    assert formats.find(tmp_path / "step-7").name == "torch-distributed"
    with pytest.raises(Untrusted):
        formats.read(tmp_path / "step-7")
    found = formats.read(tmp_path / "step-7", trust=trusted)
    assert set(found.tensors) == set(model.state_dict())
    assert all(torch.equal(tensor, model.state_dict()[name]) for name, tensor in found.tensors.items())
    assert any("left out" in note for note in found.notes)


def test_wrapped_names_are_canonical(tmp_path, trusted):
    model = stack()
    save(tmp_path / "a", {f"module._orig_mod.{n}": t for n, t in model.state_dict().items()})
    assert set(formats.read(tmp_path / "a", trust=trusted).tensors) == set(model.state_dict())


@pytest.mark.slow
def test_shards_of_several_processes_are_put_together(tmp_path, trusted):
    """Two gloo processes that hold half of every matrix each."""
    import subprocess
    import sys

    code = """
import sys, torch, torch.distributed as dist
from torch.distributed import checkpoint
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}/rendezvous", rank=rank, world_size=2)
mesh = init_device_mesh("cpu", (2,))
whole = torch.arange(24.0).view(6, 4)
shards = distribute_tensor(whole, mesh, [Shard(0)])
checkpoint.save({"model": {"a": shards}}, checkpoint_id=f"{sys.argv[2]}/a")
dist.barrier()
dist.destroy_process_group()
"""
    ranks = [subprocess.Popen([sys.executable, "-c", code, str(rank), str(tmp_path)]) for rank in (0, 1)]
    assert [rank.wait(120) for rank in ranks] == [0, 0]
    found = formats.read(tmp_path / "a", trust=trusted)
    assert "gathered from 2 shards" in found.notes
    assert torch.equal(found.tensors["a"], torch.arange(24.0).view(6, 4))


class Attack:
    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)


def test_metadata_that_would_run_code_does_not(tmp_path, trusted):
    save(tmp_path / "a", {"model": stack().state_dict()})
    (tmp_path / "a" / METADATA).write_bytes(pickle.dumps(Attack(tmp_path / "marker")))
    with pytest.raises(Untrusted, match="system"):
        formats.read(tmp_path / "a", trust=trusted)
    assert not (tmp_path / "marker").exists()


def test_an_entry_that_is_no_tensor_is_never_opened(tmp_path, trusted):
    """torch's own loader would unpickle it without restriction."""
    save(tmp_path / "a", {"model": stack().state_dict(), "extra": Attack(tmp_path / "marker")})
    assert len(formats.read(tmp_path / "a", trust=trusted).tensors) == 4
    assert not (tmp_path / "marker").exists()


def test_shards_elsewhere_are_refused(tmp_path, trusted):
    save(tmp_path / "a", {"model": stack().state_dict()})
    metadata = pickle.loads((tmp_path / "a" / METADATA).read_bytes())
    for info in metadata.storage_data.values():
        info.relative_path = f"../{info.relative_path}"
    (tmp_path / "a" / METADATA).write_bytes(pickle.dumps(metadata))
    with pytest.raises(ForeignCheckpoint, match="outside the folder"):
        formats.read(tmp_path / "a", trust=trusted)


def test_which_names_are_the_models():
    nested = {"app.model.a": ("app", "model", "a"), "app.optim.b": ("app", "optim", "b")}
    assert model_names(nested, nested) == {"app.model.a": "a"}
    flat = ["tok.weight", "optimizer.state.tok.weight", "train_state"]
    assert model_names(dict.fromkeys(flat), {}) == {"tok.weight": "tok.weight"}
    assert model_names(dict.fromkeys(["model.a", "model.b", "optim.c"]), {}) == {
        "model.a": "a",
        "model.b": "b",
    }

"""A hub's revisions through the real client: from its local cache, and from a hub on this machine."""

import json
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load, save

from hub_server import Hub, serving
from ontogeny.errors import ForeignCheckpoint, MissingExtra, NotARun
from ontogeny.series import Series
from ontogeny.series.hub import chosen_weights

constants = pytest.importorskip("huggingface_hub.constants")
NAME = "tiny/llama"
WHOLE = {
    "README.md": b"hello",
    "optimizer.pt": b"0" * 99,
    "pytorch_model.bin": b"1" * 99,
    "tokenizer.json": b"{}",
}


def files(value: float) -> dict[str, bytes]:
    weights = save({"weight": torch.full((3,), value)})
    return {
        **WHOLE,
        "config.json": json.dumps({"model_type": "llama"}).encode(),
        "model.safetensors": weights,
    }


def values(checkpoint) -> float:
    return float(checkpoint.weights().tensors["weight"][0])


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The user's cache, empty; nothing is asked of any real hub."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def hub(cache, monkeypatch):
    with serving(Hub()) as hub:
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "ENDPOINT", hub.address)
        template = hub.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        yield hub


@pytest.fixture
def offline(cache, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return cache


def put_in_cache(cache: Path, revision: str, held: dict[str, bytes]) -> str:
    """A revision in the layout of the client's cache: blobs by hash, links in snapshots, a ref."""
    home, commit = cache / "models--tiny--llama", Hub.commit_of(revision)
    (home / "blobs").mkdir(parents=True, exist_ok=True)
    (home / "snapshots" / commit).mkdir(parents=True)
    (home / "refs" / revision).parent.mkdir(parents=True, exist_ok=True)
    (home / "refs" / revision).write_text(commit)
    for name, data in held.items():
        blob = Hub.commit_of(data.hex())
        (home / "blobs" / blob).write_bytes(data)
        (home / "snapshots" / commit / name).symlink_to(Path("..") / ".." / "blobs" / blob)
    return commit


def listing(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*"))


def test_offline_the_cache_is_the_series_and_is_left_as_it_was(offline, tmp_path):
    commits = {step: put_in_cache(offline, f"step{step}", files(step)) for step in (1000, 1, 64)}
    put_in_cache(offline, "main", files(9))
    before = listing(offline)
    found = Series.open(f"hub:{NAME}", tmp_path / "home", pattern="step{step}", tokens=2)
    assert [(c.step, c.tokens, c.hash) for c in found.checkpoints] == [
        (step, 2.0 * step, commits[step]) for step in (1, 64, 1000)
    ]
    assert any("offline" in note for note in found.notes)
    assert any("main" in note for note in found.notes)
    assert [values(c) for c in found.checkpoints] == [1, 64, 1000]
    assert found.checkpoints[0].tokenizer().joinpath("tokenizer.json").exists()
    assert listing(offline) == before
    assert not (tmp_path / "home").exists(), "nothing was fetched"


def test_revisions_with_stages_and_tokens(offline, tmp_path):
    for name in ("stage1-step1000-tokens5B", "stage1-step500-tokens2B", "stage2-step1000-tokens6B"):
        put_in_cache(offline, name, files(1))
    with pytest.raises(NotARun, match=r"step 1000[\s\S]*stage1-step1000-tokens5B, stage2-step1000"):
        Series.open(f"hub:{NAME}")
    found = Series.open(f"hub:{NAME}", pattern="stage1-step{step}-tokens{tokens}B")
    assert [(c.step, c.tokens) for c in found.checkpoints] == [(500, 2e9), (1000, 5e9)]


def test_a_repository_of_one_model_is_a_series_of_one(offline):
    put_in_cache(offline, "main", files(9))
    put_in_cache(offline, "v1.0.2", files(8))
    put_in_cache(offline, "refs/pr/1", files(7))
    found = Series.open(f"hub:{NAME}")
    assert [(c.step, c.label) for c in found.checkpoints] == [(0, "main")]
    assert any("v1.0.2" in note for note in found.notes)


def test_offline_and_not_in_the_cache(offline):
    with pytest.raises(NotARun, match=r"hub:tiny/llama[\s\S]*HF_HUB_OFFLINE[\s\S]*hub:OWNER/NAME"):
        Series.open(f"hub:{NAME}")


def test_a_snapshot_without_weights_is_not_whole(offline):
    put_in_cache(offline, "step1", {"config.json": b"{}"})
    (one,) = Series.open(f"hub:{NAME}").checkpoints
    with pytest.raises(ForeignCheckpoint, match=r"'step1' of tiny/llama[\s\S]*not in the local cache"):
        one.weights()


def test_fetched_one_at_a_time_and_freed(hub, cache, tmp_path):
    hub.repositories[NAME] = {"step2": files(2), "step10": files(10), "main": files(10)}
    home = tmp_path / "home"
    found = Series.open(f"hub:{NAME}", home)
    assert [(c.step, c.hash) for c in found.checkpoints] == [(s, Hub.commit_of(f"step{s}")) for s in (2, 10)]
    assert hub.asked == []
    for checkpoint in found.checkpoints:
        with checkpoint.present() as path:
            held = sorted(p.name for p in path.iterdir())
            assert held == ["config.json", "model.safetensors", "tokenizer.json"]
            assert load((path / "model.safetensors").read_bytes())["weight"][0] == checkpoint.step
            assert len(list((home / "fetched").iterdir())) == 1
        assert list((home / "fetched").iterdir()) == [], "freed"
    assert not cache.exists() or listing(cache) == [], "the user's cache is not ours to fill"
    assert {"optimizer.pt", "pytorch_model.bin", "README.md"}.isdisjoint(hub.asked)


def test_freed_also_where_loading_fails(hub, tmp_path):
    hub.repositories[NAME] = {"step2": files(2)}
    (one,) = Series.open(f"hub:{NAME}", tmp_path / "home").checkpoints
    with pytest.raises(ZeroDivisionError), one.present():
        raise ZeroDivisionError
    assert list((tmp_path / "home" / "fetched").iterdir()) == []


def test_what_is_whole_in_the_cache_is_not_fetched(hub, cache):
    hub.repositories[NAME] = {"step2": files(2), "step10": files(10)}
    put_in_cache(cache, "step2", files(2))
    before = listing(cache)
    found = Series.open(f"hub:{NAME}")
    assert values(found.at(2)) == 2
    assert hub.asked == []
    assert listing(cache) == before


def test_the_tokenizer_is_small_and_stays(hub, tmp_path):
    hub.repositories[NAME] = {"step2": files(2)}
    (one,) = Series.open(f"hub:{NAME}", tmp_path / "home").checkpoints
    folder = one.tokenizer()
    assert (folder / "tokenizer.json").read_bytes() == b"{}"
    assert set(hub.asked) == {"tokenizer.json"}
    assert folder.is_relative_to(tmp_path / "home")


def test_gated_and_absent_are_named(hub, tmp_path):
    hub.repositories[NAME] = {"step2": files(2)}
    hub.gated.add(NAME)
    (one,) = Series.open(f"hub:{NAME}", tmp_path / "home").checkpoints
    with pytest.raises(
        ForeignCheckpoint, match=r"'step2' of tiny/llama cannot be had[\s\S]*Gated[\s\S]*hf auth"
    ):
        one.weights()
    hub.repositories[NAME] = {"step3": files(3)}
    with pytest.raises(ForeignCheckpoint, match=r"step2[\s\S]*RevisionNotFound"):
        one.weights()
    with pytest.raises(NotARun, match=r"hub:tiny/nothing[\s\S]*RepositoryNotFound"):
        Series.open("hub:tiny/nothing")
    with pytest.raises(NotARun, match="HFValidationError"):
        Series.open("hub:not a name")


def test_a_revision_without_weights_says_what_it_holds(hub, tmp_path):
    hub.repositories[NAME] = {"step2": {"README.md": b"soon"}}
    (one,) = Series.open(f"hub:{NAME}", tmp_path / "home").checkpoints
    with pytest.raises(ForeignCheckpoint, match=r"README\.md[\s\S]*a revision with weights"):
        one.weights()


def test_one_kind_of_weights_is_chosen():
    names = ["a/model.safetensors", "pytorch_model.bin", "training_args.bin", "optimizer.pt", "config.json"]
    assert chosen_weights(names) == ["pytorch_model.bin"]
    sharded = ["model-1.safetensors", "model-2.safetensors", "model.safetensors.index.json", *names]
    assert chosen_weights(sharded) == sharded[:3]
    assert chosen_weights(["README.md", "optimizer.bin"]) == []
    assert chosen_weights(["ckpt.pt"]) == ["ckpt.pt"]


def test_without_the_client(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtra, match=r"ontogeny\[hf\]"):
        Series.open(f"hub:{NAME}")


def test_rows_elsewhere_take_what_is_fetched_along(hub, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hub.repositories[NAME] = {"step2": files(2)}
    found = Series.open(f"hub:{NAME}").kept_in(tmp_path / "there")
    assert values(found.at(2)) == 2
    assert [p.name for p in tmp_path.iterdir() if p.name != "cache"] == ["there"]

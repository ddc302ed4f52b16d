"""Series of every kind, from `measure` to rows."""

import gc
import json
import weakref
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch

from hub_server import Hub, serving
from ontogeny.detect import detect
from ontogeny.errors import Damaged, ForeignCheckpoint, NotARun, OntogenyError, Untrusted
from ontogeny.measure import measure
from ontogeny.measure.plan import Request, Session
from ontogeny.models import DecoderConfig
from ontogeny.series import Series, read_steps, with_tokens
from ontogeny.store.rows import read_rows
from ontogeny.subject import Subject
from ontogeny.vocabulary import Status
from small_checkpoints import CONFIG, save_model, small_model

SOME = ["stable_rank", "induction", "distance_from_start"]


def numbers(home: Path) -> pd.DataFrame:
    """What was measured, without what tells one series from another."""
    frame = read_rows(home)
    keys = ["step", "part", "component", "stimulus", "layer", "head", "matrix"]
    return frame.sort_values(keys, ignore_index=True)[[*keys, "value", "status"]]


def folder_of(path: Path, steps, config: DecoderConfig = CONFIG) -> Path:
    for step in steps:
        save_model(path / f"step{step}", step, config)
    return path


def test_a_folder_a_file_and_a_function_give_the_same_numbers(tmp_path):
    folder = folder_of(tmp_path / "folder", (1, 20, 3))
    assert measure(folder, SOME) == 3
    expected = numbers(folder / "ontogeny")
    assert set(expected["status"]) == {Status.OK, Status.NO_TARGET}
    assert (expected["status"] == Status.OK).sum() > 20
    made = Series.of(small_model, (1, 3, 20), name="made", home=tmp_path / "made")
    assert measure(made, SOME) == 3
    pd.testing.assert_frame_equal(numbers(tmp_path / "made"), expected)
    assert measure(made, SOME) == 0
    subjects = Series.of(lambda s: Subject(small_model(s)), (1, 3, 20), name="s", home=tmp_path / "subjects")
    measure(subjects, SOME)
    pd.testing.assert_frame_equal(numbers(tmp_path / "subjects"), expected)
    states = Series.of(
        lambda s: {f"_orig_mod.{name}": t for name, t in small_model(s).state_dict().items()},
        (1, 3, 20), name="states", home=tmp_path / "states", model=small_model(0),
    )  # fmt: skip
    measure(states, SOME)
    pd.testing.assert_frame_equal(numbers(tmp_path / "states"), expected)
    alone = tmp_path / "folder" / "step20" / "model.safetensors"
    with pytest.raises(NotARun, match="nothing was measured"):
        detect(alone)
    assert measure(alone, ["stable_rank"]) == 1
    one = numbers(alone.with_name("model.safetensors.ontogeny"))
    twenty = expected[(expected["step"] == 20) & (expected["part"] == "stable_rank")]
    pd.testing.assert_frame_equal(
        one.drop(columns="step"), twenty.drop(columns="step").reset_index(drop=True)
    )


def test_a_function_that_changes_its_mind_is_measured_again(tmp_path):
    shift = [0]
    made = lambda: Series.of(lambda s: small_model(s + shift[0]), (1, 2), name="m", home=tmp_path)
    assert measure(made(), ["stable_rank"]) == 2
    assert measure(made(), ["stable_rank"]) == 0
    shift[0] = 5
    assert measure(made(), ["stable_rank"]) == 2


def test_models_of_several_sizes_in_one_folder(tmp_path):
    """Each has stimuli of its own vocabulary and context; what compares two of them is undefined."""
    folder_of(tmp_path, (1, 2))
    folder_of(tmp_path, (3, 4), replace(CONFIG, vocabulary=24, width=8))
    assert measure(tmp_path, ["stable_rank", "induction", "cka"]) == 4
    frame = read_rows(tmp_path / "ontogeny")
    plain = frame[frame["part"].isin(["stable_rank", "induction"]) & (frame["stimulus_name"] != "heldout")]
    assert set(plain["status"]) == {Status.OK}
    assert plain[plain["part"] == "induction"].groupby("step")["stimulus"].nunique().tolist() == [1] * 4
    assert plain[plain["part"] == "induction"]["stimulus"].nunique() == 2
    compared = frame[(frame["part"] == "cka") & (frame["stimulus_name"] == "repeated_tokens")]
    assert all("another size" in reason for reason in compared[compared["step"] < 3]["reason"])
    assert measure(tmp_path, ["stable_rank", "induction"]) == 0


@pytest.mark.parametrize("broken", [(2,), (3,), (1,), (1, 3)])
def test_what_cannot_be_loaded_is_named_and_the_rest_is_measured(tmp_path, broken):
    folder_of(tmp_path, (1, 2, 3))
    for step in broken:
        (tmp_path / f"step{step}" / "model.safetensors").write_bytes(f"torn {step}".encode())
    done = []
    with pytest.raises((Damaged, ForeignCheckpoint), match=r"[\s\S]*".join(f"step ?{s}" for s in broken)):
        measure(tmp_path, ["stable_rank", "distance_from_start"], done=done.append)
    frame = read_rows(tmp_path / "ontogeny")
    assert set(frame["step"]) == {1, 2, 3} - set(broken)
    assert done == [1, 2, 3]
    for step in broken:
        save_model(tmp_path / f"step{step}", step)
    measure(tmp_path, ["stable_rank", "distance_from_start"])
    mended = read_rows(tmp_path / "ontogeny")
    last = mended.drop_duplicates(["step", "part", "component", "layer", "matrix"], keep="last")
    assert set(last["step"]) == {1, 2, 3}


def test_if_none_can_be_loaded_the_last_ones_reason_is_told(tmp_path):
    for step in (1, 2):
        folder = save_model(tmp_path / f"step{step}", step)
        (folder / "model.safetensors").write_bytes(f"torn {step}".encode())
    with pytest.raises(Damaged, match="step2"):
        measure(tmp_path, ["stable_rank"])


def test_what_a_users_function_raises_is_told(tmp_path):
    def load(step):
        if step == 2:
            raise FileNotFoundError("no such shard")
        return small_model(step)

    with pytest.raises(ForeignCheckpoint, match=r"step 2[\s\S]*FileNotFoundError: no such shard"):
        measure(Series.of(load, (1, 2, 3), name="x", home=tmp_path), ["stable_rank"])
    assert set(read_rows(tmp_path)["step"]) == {1, 3}


def tensor_bytes() -> int:
    """What all living tensors hold, each storage once; other tests leave sparse and lazy ones behind."""
    gc.collect()
    held = {}
    for found in gc.get_objects():
        # `isinstance` would wake torch's deprecated names.
        if type(found) in (torch.Tensor, torch.nn.Parameter) and found.layout is torch.strided:
            held[found.untyped_storage().data_ptr()] = found.untyped_storage().nbytes()
    return sum(held.values())


def test_one_checkpoint_is_in_memory_whatever_the_length_of_the_series(tmp_path):
    folder_of(tmp_path, range(30))
    series = Series.open(tmp_path)
    session = Session(Request(series, None, ("stable_rank",)))
    model = session.subject.model
    held = []
    for checkpoint in series.checkpoints:
        assert session.load(checkpoint).model is model, "loaded in place"
        if checkpoint.step in (1, 29):
            assert torch.equal(model.embedding.weight, small_model(checkpoint.step).embedding.weight)
            held.append(tensor_bytes())
    assert max(held) == min(held)


def test_what_a_function_made_is_gone_before_it_makes_the_next(tmp_path):
    living = weakref.WeakSet()

    def load(step):
        assert len(living) == 0, "two models at once"
        model = small_model(step)
        living.add(model)
        return model

    measure(Series.of(load, range(30), name="x", home=tmp_path), ["stable_rank"])
    assert read_rows(tmp_path)["step"].nunique() == 30


def test_tokens_are_kept_beside_the_rows(tmp_path):
    folder_of(tmp_path, (1, 2))
    measure(tmp_path, ["stable_rank"], tokens=512)
    assert read_steps(tmp_path / "ontogeny")["tokens"].tolist() == [512, 1024]
    assert measure(tmp_path, ["stable_rank"], tokens=lambda step: 3 * step) == 0
    rows = with_tokens(read_rows(tmp_path / "ontogeny"), tmp_path / "ontogeny")
    assert (rows["tokens"] == 3 * rows["step"]).all(), "a better rule replaces the earlier one"


@pytest.mark.slow
def test_a_pickle_is_opened_only_with_leave(tmp_path):
    described = json.loads((save_model(tmp_path / "plain", 5) / "config.json").read_text())
    for step in (5, 6):
        folder = tmp_path / "pickled" / f"step{step}"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(described))
        tensors = {f"module.{k}": v for k, v in _exported(step).items()}
        torch.save(tensors, folder / "pytorch_model.bin")
    with pytest.raises(Untrusted, match=r"--pickle|trust"):
        measure(tmp_path / "pickled", ["stable_rank"])
    assert measure(tmp_path / "pickled", ["stable_rank"], trust=True) == 2


def _exported(seed: int):
    from ontogeny.models.shapes import export_state

    return export_state(CONFIG, dict(small_model(seed).state_dict()))[1]


def test_several_workers_need_a_function_with_a_name(tmp_path):
    with pytest.raises(OntogenyError, match=r"this process only[\s\S]*module:function"):
        measure(Series.of(lambda step: small_model(step), (1, 2), name="x", home=tmp_path), workers=2)
    assert not (tmp_path / "rows").exists()


@pytest.mark.slow
def test_a_named_function_is_measured_by_several_workers(tmp_path):
    alone = Series.of(small_model, (1, 2, 3), name="x", home=tmp_path / "alone")
    shared = Series.of("small_checkpoints:small_model", (1, 2, 3), name="x", home=tmp_path / "shared")
    measure(alone, SOME)
    assert measure(shared, SOME, workers=2) == 3
    pd.testing.assert_frame_equal(numbers(tmp_path / "shared"), numbers(tmp_path / "alone"))


@pytest.mark.slow
def test_workers_tell_what_they_could_not_load(tmp_path):
    folder_of(tmp_path, (1, 2, 3, 4))
    (tmp_path / "step2" / "model.safetensors").write_bytes(b"torn")
    with pytest.raises(Damaged, match="step2"):
        measure(tmp_path, ["stable_rank"], workers=2)
    assert set(read_rows(tmp_path / "ontogeny")["step"]) == {1, 3, 4}


def test_a_hubs_revisions(tmp_path, monkeypatch):
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    folder = folder_of(tmp_path / "folder", (1, 20, 3))
    with serving(Hub()) as hub:
        hub.repositories["tiny/ours"] = {
            f"step{s}": {p.name: p.read_bytes() for p in (folder / f"step{s}").iterdir()} for s in (1, 20, 3)
        }
        monkeypatch.setattr(constants, "ENDPOINT", hub.address)
        template = hub.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        home = tmp_path / "home"
        assert measure("hub:tiny/ours", SOME, home=home, pattern="step{step}", tokens=100) == 3
        before = len(hub.asked)
        assert measure("hub:tiny/ours", SOME, home=home) == 0
        assert len(hub.asked) == before + 2, "only the one that a session is opened on"
    measure(folder, SOME)
    pd.testing.assert_frame_equal(numbers(home), numbers(folder / "ontogeny"))
    rows = read_rows(home)
    assert {s: set(f["checkpoint"]) for s, f in rows.groupby("step")} == {
        s: {Hub.commit_of(f"step{s}")} for s in (1, 3, 20)
    }
    assert list((home / "fetched").iterdir()) == []
    assert not (tmp_path / "cache").exists()
    assert len(detect("hub:tiny/ours", home=home)), "without asking the hub"

"""A recipe from its first step to a finished run."""

import errno
import json
import math
import os

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from ontogeny.errors import Damaged, DiskFull, NonfiniteLoss, RunExists
from ontogeny.record import estimate as estimating
from ontogeny.record.grade import compared, first_digests
from ontogeny.record.recipe import Recipe, load_recipe
from ontogeny.record.train import train
from ontogeny.store import files
from ontogeny.store.run import Run
from ontogeny.subject import load_subject
from tiny_recipe import tiny


def twelve_steps(**tables) -> Recipe:
    """The tiny recipe, twelve steps, with samples at its checkpoints."""
    recording = {"every": 4, "samples": 1, "sample_length": 4}
    return tiny(training={"steps": 12, **tables.pop("training", {})}, recording=recording, **tables)


def test_a_finished_run_holds_all_of_it(tmp_path):
    heard = []
    run = train(twelve_steps(), tmp_path / "run", begin=heard.append, grade=False)
    assert run.outcome == "finished"
    assert [c.step for c in run.checkpoints] == [0, 1, 2, 4, 8, 12]
    assert run.telemetry("loss")["step"].tolist() == list(range(1, 13))
    assert run.telemetry("heldout_loss")["step"].tolist() == [0, 1, 2, 4, 8, 12]
    assert run.telemetry("draw")["draw"].nunique() == 12
    assert [note.data["step"] for note in run.notes if note.kind == "sample"] == [0, 1, 2, 4, 8, 12]
    assert run.identity["recipe"]["training"]["steps"] == 12
    assert heard[0].steps == 12
    assert heard[0].seconds > 0
    assert run.verify() == []
    beside = [p for p in run.path.rglob("*") if p.is_file() and "checkpoints" not in p.parts]
    assert len(beside) <= 50


def test_the_same_recipe_trained_twice_is_the_same_run(tmp_path):
    one = train(twelve_steps(), tmp_path / "one", grade=False).telemetry("model_digest")["model_digest"]
    other = train(twelve_steps(), tmp_path / "other", grade=False).telemetry("model_digest")["model_digest"]
    assert one.tolist() == other.tolist()


def test_a_grade_is_earned_in_a_fresh_process(tmp_path):
    run = train(twelve_steps(), tmp_path / "run")
    assert run.grade == "E"
    assert "same bits" in run.identity["grade"]["reason"]
    digests = first_digests(run, 3)
    assert compared(run, digests).letter == "E"
    assert compared(run, [*digests[:2], digests[2] ^ 1]).letter == "S"
    assert "step 3" in compared(run, [*digests[:2], digests[2] ^ 1]).reason


def test_a_llama_shaped_checkpoint_loads_in_transformers_with_its_tokenizer(tmp_path):
    overrides = [
        "training.steps=1",
        "model.width=32",
        "model.layers=1",
        "recording.evaluate=8",
        "recording.samples=0",
    ]
    run = train(load_recipe("letters", overrides), tmp_path / "run", grade=False)
    folder = run.checkpoints[-1].folder
    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()
    tokens = AutoTokenizer.from_pretrained(folder, local_files_only=True)(
        "def f(x):", return_tensors="pt"
    ).input_ids
    ours = load_subject(folder).run(tokens)
    assert (model(tokens).logits - ours).abs().max().item() < 1e-5
    assert run.identity["sources"]["corpus"] == "python-stdlib"


def test_nan_loss_is_recorded_and_stops_or_goes_on(tmp_path):
    broken = {"optimizer": {"name": "sgd", "lr": 1e30}}
    with pytest.raises(NonfiniteLoss, match="holds everything up to this step"):
        train(
            twelve_steps(**broken, training={"on_nonfinite": "stop", "clip": 0.0}),
            tmp_path / "stops",
            grade=False,
        )
    stopped = Run.open(tmp_path / "stops")
    assert stopped.outcome == "failed"
    last = stopped.telemetry("loss").iloc[-1]
    assert not math.isfinite(last["loss"])
    assert last["step"] < 12
    assert stopped.telemetry("applied")["applied"].tolist()[-1] is False
    assert any(note.kind == "nonfinite" for note in stopped.notes)
    goes_on = train(
        twelve_steps(**broken, training={"on_nonfinite": "continue"}), tmp_path / "on", grade=False
    )
    assert goes_on.telemetry("loss")["step"].max() == 12
    assert stopped.verify() == goes_on.verify() == []


def test_an_existing_run_is_never_overwritten(tmp_path):
    train(twelve_steps(), tmp_path / "run", grade=False)
    with pytest.raises(RunExists):
        train(twelve_steps(), tmp_path / "run", grade=False)


def test_a_run_that_cannot_fit_is_refused_before_it_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(estimating, "free_bytes", lambda path: 1000)
    with pytest.raises(DiskFull, match="will not fit"):
        train(twelve_steps(), tmp_path / "run", grade=False)
    assert not (tmp_path / "run").exists()


def test_a_disk_that_fills_up_leaves_what_was_committed(tmp_path, monkeypatch):
    plain, calls = files.raw_write, []

    def full(descriptor, data):
        calls.append(len(data))
        if len(calls) > 150:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return plain(descriptor, data)

    monkeypatch.setattr(files, "raw_write", full)
    with pytest.raises(DiskFull):
        train(twelve_steps(), tmp_path / "run", grade=False)
    monkeypatch.setattr(files, "raw_write", plain)
    run = Run.open(tmp_path / "run")
    assert run.verify() == []
    assert len(run.checkpoints) >= 1
    assert len(run.telemetry("loss")) >= 1


def test_run_json_is_plain_json(tmp_path):
    run = train(twelve_steps(), tmp_path / "run", grade=False)
    assert json.loads((run.path / "run.json").read_text())


def test_a_flipped_bit_in_any_file_of_a_run_is_found_and_named(tmp_path):
    """One of every kind of file; the tables of measuring and detecting are tested with their stores."""
    overrides = ["training.steps=1", "model.width=32", "model.layers=1", "recording.evaluate=8"]
    run = train(load_recipe("letters", [*overrides, "recording.samples=0"]), tmp_path / "run", grade=False)
    assert run.verify() == []
    kinds = ["journal/*.parquet", "tokenizer/tokenizer.json", "tokenizer/tokenizer_config.json"]
    kinds += [f"checkpoints/000001/{name}" for name in ("model.safetensors", "state.json", "manifest.json")]
    for kind in kinds:
        (path,) = run.path.glob(kind)
        whole = path.read_bytes()
        broken = bytearray(whole)
        broken[len(broken) // 2] ^= 4
        path.write_bytes(broken)
        damage = Run.open(run.path).verify()
        assert damage, kind
        assert path.name in damage[0].file or path.parent.name in damage[0].file
        path.write_bytes(whole)
    path = run.path / "run.json"
    path.write_bytes(path.read_bytes().replace(b'"context": 64', b'"context": 65'))
    with pytest.raises(Damaged, match=r"run\.json"):
        Run.open(run.path)

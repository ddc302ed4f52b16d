"""The whole: real tables unaided and disguised, a spoiled series in files, JSON, text and refusals."""

import json
import random
import re

import pytest
import torch
from torch import nn

from ontogeny.audit import KINDS, Severity, audit, quick
from ontogeny.errors import NotARun
from ontogeny.series import Series


def _series_of(findings, kind):
    return {name for name, found in zip(findings["series"], findings["kind"], strict=True) if found == kind}


@pytest.fixture(scope="module")
def pythia(shared_data):
    return audit(shared_data / "pythia-evals").findings


def _as_is(name):
    return name


def _check_pythia(findings, names, step):
    """What must be found in Pythia's results, under whatever names and steps they go."""
    opening = findings[findings["kind"] == "no-update-yet"].set_index("series")
    sizes = ("70m", "160m", "410m", "1b-bf16", "1.4b", "2.8b", "6.9b", "12b")
    for size in sizes:
        found = opening.loc[names(f"pythia-{size}/zero-shot")]
        assert found["steps"] == [step(0), step(1)]
        assert len(found["tasks"]) == 87
    for size in ("70m", "160m", "410m", "1.4b"):
        pair = {names(f"pythia-{size}/zero-shot"), names(f"pythia-{size}-deduped/zero-shot")}
        same = findings[findings["kind"] == "same-initialisation"]
        (found,) = [one for one in same.to_dict("records") if set(one["series"].split(" | ")) == pair]
        assert step(0) in found["steps"]
    batches = _series_of(findings, "changed-batch-size")
    assert {names("pythia-70m/zero-shot"), names("pythia-1b-bf16/zero-shot")} <= batches
    assert names("pythia-12b/zero-shot") not in batches
    (tasks,) = findings[findings["kind"] == "changed-tasks"].to_dict("records")
    assert (tasks["series"], tasks["steps"]) == (names("pythia-6.9b-deduped/baseline"), [step(139000)])
    assert (tasks["numbers"]["tasks"], tasks["numbers"]["usual"]) == (23, 87)
    assert _series_of(findings, "mixed-runs") == {names("pythia-1.4b-deduped/intervention")}
    (missing,) = findings[findings["kind"] == "missing-points"].to_dict("records")
    assert missing["series"] == names("pythia-70m-0.25MtokBS/five-shot")
    assert missing["steps"] == [step(1064000)]
    assert names("pythia-410m-deduped/baseline") in _series_of(findings, "fewer-tasks")
    assert "error" not in set(findings["severity"])


def test_pythias_results_unaided(pythia):
    _check_pythia(pythia, lambda name: f"pythia-v1/{name}", lambda step: step)


def test_pythias_results_disguised(shared_data, tmp_path):
    rng, source = random.Random(1), shared_data / "pythia-evals" / "pythia-v1"
    models, tasks = {}, {}
    for file in source.rglob("*.json"):
        words = file.relative_to(source).with_suffix("").as_posix()
        document = json.loads(file.read_text())
        step = int(re.findall(r"step(\d+)$", words)[0])
        new = [models.setdefault(word, f"m{len(models)}") for word in words.split("/")[:-1]]
        stem = models.setdefault(words.split("/")[-1].split("_step")[0], f"n{len(models)}")
        config = document["config"]
        name = re.findall(r"pretrained=([^,]*)", config["model_args"])[0]
        config["model_args"] = config["model_args"].replace(name, models.setdefault(name, f"o{len(models)}"))
        config["model_args"] = config["model_args"].replace(f"step{step}", f"iter{7 * step + 21}")
        results = {}
        for task in rng.sample(sorted(document["results"]), len(document["results"])):
            results[tasks.setdefault(task, f"t{len(tasks)}")] = document["results"][task]
        document["results"], document["versions"] = results, {}
        folder = tmp_path.joinpath(*new)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{stem}-iter{7 * step + 21}.json").write_text(json.dumps(document))
    names = lambda name: "/".join(models[word] for word in name.split("/"))
    _check_pythia(audit(tmp_path).findings, names, lambda step: 7 * step + 21)


def test_bigsciences_aggregates_are_read_and_their_spikes_named(shared_data):
    findings = audit(shared_data / "bigscience").findings
    spikes = findings[findings["kind"] == "outlier-results"]
    assert [42000] in spikes[spikes["series"].str.startswith("tr3d")]["steps"].tolist()
    assert "error" not in set(findings["severity"])


def test_twenty_checkpoints_with_three_faults_and_nothing_else(clean, twin, saved):
    shard = {name: tensor for name, tensor in clean[150].items() if name.startswith("blocks.1.")}
    spoiled = {**clean, 60: {**clean[60], **shard}, 100: clean[110], 30: twin[30]}
    made = audit(saved(spoiled, "spoiled"))
    named = {one.kind: one for one in made.found if one.kind != "no-update-yet"}
    assert set(named) == {"misplaced-shard", "duplicate-checkpoint", "foreign-checkpoint"}
    assert named["misplaced-shard"].steps == (60, 150)
    assert "model-00002-of-00002.safetensors" in named["misplaced-shard"].seen
    assert named["duplicate-checkpoint"].steps == (100, 110)
    assert named["foreign-checkpoint"].steps == (30,)
    assert not made.sound
    assert audit(saved(clean, "clean")).sound


def test_seeds_that_begin_with_the_start_of_another(clean, twin, saved):
    crossed = {**twin, 0: clean[0]}
    findings = audit(saved(clean, "one"), saved(crossed, "other"), saved(twin, "third")).findings
    (found,) = findings[findings["kind"] == "foreign-start"].to_dict("records")
    assert (found["series"], found["steps"][0]) == ("other", 0)
    assert "third" in found["seen"]


def test_quick_sees_equal_checkpoints_and_gaps_without_reading_tensors(clean, saved):
    steps = [step for step in clean if step != 70]
    series = Series.open(saved({step: clean[100 if step == 120 else step] for step in steps}, "few"))
    made = quick(series)
    assert dict(made.kinds()) == {"duplicate-checkpoint": 1, "missing-points": 1}
    assert {one.kind: one.steps for one in made.found}["missing-points"] == (70,)


def test_a_checkpoint_that_cannot_be_read_is_a_finding(clean, saved):
    folder = saved({step: clean[step] for step in (0, 10, 20, 30)}, "damaged")
    (folder / "checkpoint-20" / "model-00002-of-00002.safetensors").unlink()
    (found,) = audit(folder).found
    assert (found.kind, found.steps) == ("unreadable", (20,))
    assert "model-00002-of-00002" in found.seen


def test_a_model_on_the_meta_device_is_a_finding_with_its_tensors():
    def load(step):
        with torch.device("meta" if step == 2 else "cpu"):
            return nn.Linear(4, 4)

    (found,) = [one for one in audit(Series.of(load, range(4), name="meta")).found if 2 in one.steps]
    assert found.kind == "unreadable"
    assert "meta device" in found.seen
    assert "bias, weight" in found.seen


def test_json_and_text_tell_all_findings(clean, twin, saved):
    made = audit(saved({**clean, 30: twin[30]}, "one"))
    told = json.loads(made.json())
    assert [one["kind"] for one in told["findings"]] == made.findings["kind"].tolist()
    assert "foreign-checkpoint" in made.text()
    assert KINDS["foreign-checkpoint"].meaning in made.text()
    assert made.found[0].severity == Severity.ERROR


def test_a_folder_of_neither_is_refused(tmp_path):
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(NotARun, match="cannot be audited"):
        audit(tmp_path)


def test_tables_given_one_by_one_are_held_against_each_other(shared_data):
    found = audit(
        *(shared_data / "pythia-evals/pythia-v1" / name for name in ("pythia-70m", "pythia-70m-deduped"))
    )
    (same,) = found.findings[found.findings["kind"] == "same-initialisation"]["series"]
    assert set(same.split(" | ")) == {"pythia-70m/zero-shot", "pythia-70m-deduped/zero-shot"}
    assert len({line.partition(":")[0] for line in found.looked_at}) == len(found.looked_at)


def test_a_table_given_twice_is_one(shared_data):
    where = shared_data / "pythia-evals/pythia-v1/pythia-12b"
    assert audit(where, where).looked_at == audit(where).looked_at

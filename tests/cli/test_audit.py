"""`ontogeny audit` as a user meets it."""

import json


def _results(folder, values):
    for step, value in values.items():
        document = {"results": {f"t{i}": {"acc": value + i} for i in range(30)}, "config": {"batch_size": 8}}
        (folder / f"m_step{step}.json").write_text(json.dumps(document))


def test_findings_are_printed_and_written(ontogeny, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    _results(folder, {0: 0.1, 1: 0.1, 2: 0.2, 3: 0.3})
    status, out, _ = ontogeny("audit", folder, "--out", tmp_path / "findings.json")
    assert status == 0
    assert "no-update-yet" in out
    assert "0 errors, 0 warnings, 1 notes" in out
    (found,) = json.loads((tmp_path / "findings.json").read_text())["findings"]
    assert (found["kind"], found["steps"]) == ("no-update-yet", [0, 1])


def test_an_error_among_the_findings_is_status_one(ontogeny, tmp_path):
    _results(tmp_path, {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.2})
    status, out, _ = ontogeny("audit", tmp_path)
    assert status == 1
    assert "duplicate-results" in out


def test_a_path_with_nothing_to_audit_is_status_two(ontogeny, tmp_path):
    status, _, complaint = ontogeny("audit", tmp_path)
    assert status == 2
    assert "cannot be audited" in complaint


def test_quick_looks_at_hashes_only(ontogeny, shared_data):
    status, out, _ = ontogeny("audit", "--quick", shared_data / "stories260k")
    assert status == 0
    assert "hashes of 1 checkpoints" in out

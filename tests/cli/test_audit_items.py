"""`ontogeny audit-items` as a user meets it."""

import json
import re
import shlex
from pathlib import Path

import pandas as pd


def written(folder, columns):
    folder.mkdir()
    for replicate, right in enumerate(zip(*columns, strict=True)):
        lines = [json.dumps({"doc_id": i, "acc": float(score)}) for i, score in enumerate(right)]
        (folder / f"samples_quiz_2026-01-0{replicate + 1}T00-00-00.jsonl").write_text("\n".join(lines))


def test_what_was_gained_is_printed_and_all_of_it_written(ontogeny, tmp_path):
    written(tmp_path / "a", [[0] * 6, [1] * 6, [0, 1, 0, 1, 0, 1]])
    written(tmp_path / "b", [[1] * 6, [1] * 6, [1, 0, 1, 0, 1, 0]])
    status, out, _ = ontogeny("audit-items", "a", "b", "--out", "items.csv")
    assert status == 0
    assert "a -> b: 3 items of both, acc" in out
    assert "told from noise: 1 gained, 0 lost, of 2 items that could be" in out
    assert "gained: quiz/0" in out
    table = pd.read_csv(tmp_path / "items.csv")
    assert table["verdict"].tolist() == ["gained", "same", "same"]


def test_a_wrong_path_is_four_plain_lines(ontogeny, tmp_path):
    written(tmp_path / "a", [[1, 0]])
    status, _, complaint = ontogeny("audit-items", "a", "absent")
    assert status == 2
    assert "holds no item scores" in complaint
    assert "no such path" in complaint


def test_the_pages_commands_run(ontogeny, tmp_path):
    page = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "audit-items.md"
    (tmp_path / "samples").mkdir()
    for name in ("before", "after"):
        written(tmp_path / "samples" / name, [[1, 0, 1, 0], [1, 1, 1, 1]])
    commands = re.search(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)[1].splitlines()
    assert len(commands) == 2
    for command in commands:
        status, _, complaint = ontogeny(*shlex.split(command, comments=True)[1:])
        assert (status, complaint) == (0, "")
    assert (tmp_path / "items.csv").exists()

"""Which runs repeat one another, and which only look as if they did."""

import pytest

from ontogeny.detect.configurations import by_configuration, require_repeats
from ontogeny.errors import NotObservable
from ontogeny.store.run import Run


def make(folder, name: str, seed: int, lr: float = 0.1, title: str = "t") -> Run:
    recipe = {"title": title, "optimizer": {"lr": lr}, "training": {"steps": 5, "seed": seed}}
    return Run.create(folder / name, {"recipe": recipe})


def names(groups: dict) -> dict:
    return {label: [run.name for run in members] for label, members in groups.items()}


def test_runs_that_differ_in_seed_and_title_only_are_one_group(tmp_path):
    runs = [make(tmp_path, f"seed-{n}", n, title=f"run {n}") for n in range(3)]
    assert names(by_configuration(runs)) == {tmp_path.name: ["seed-0", "seed-1", "seed-2"]}


def test_groups_are_named_by_what_tells_them_apart(tmp_path):
    runs = [make(tmp_path, f"{lr}-{n}", n, lr) for lr in (0.1, 0.3) for n in range(2)]
    assert names(by_configuration(runs)) == {
        "optimizer.lr=0.1": ["0.1-0", "0.1-1"],
        "optimizer.lr=0.3": ["0.3-0", "0.3-1"],
    }


def test_a_run_without_a_recipe_repeats_no_other(tmp_path):
    runs = [Run.create(tmp_path / name, {}) for name in ("a", "b")]
    assert names(by_configuration(runs)) == {"a": ["a"], "b": ["b"]}


def test_runs_of_several_configurations_are_no_repeats(tmp_path):
    paths = [make(tmp_path, f"{lr}", 0, lr).path for lr in (0.1, 0.3)]
    with pytest.raises(NotObservable, match=r"optimizer.lr=0.1: 1 runs"):
        require_repeats(paths)


def test_a_run_and_its_copy_are_refused(tmp_path):
    paths = [make(tmp_path, name, 4).path for name in ("seed-4", "copy")]
    with pytest.raises(NotObservable, match="both of seed 4"):
        require_repeats(paths)


def test_folders_that_are_no_runs_are_taken_as_they_are(tmp_path):
    """Nothing tells whether they repeat one another, so nothing is refused; runs of one seed are."""
    assert require_repeats([tmp_path / "a", tmp_path / "a"]) is None
    runs = [make(tmp_path, name, 4).path for name in ("one", "other")]
    with pytest.raises(NotObservable):
        require_repeats([tmp_path / "a", *runs])

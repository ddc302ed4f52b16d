"""TRA-01."""

import pytest
import torch

from ontogeny.measure import measure
from ontogeny.record.recipe import Recipe
from ontogeny.record.train import train
from ontogeny.statistics.growth import growth_law
from ontogeny.store.run import Run
from ontogeny.subject import load_subject


def test_no_training_is_no_distance(value, gaussian):
    start = gaussian(12, 8)
    assert value("distance_from_start", "matrix", start, there=start.clone()) == 0
    assert value("distance_from_start", "matrix", start, there=start.clone(), component="relative") == 0


def test_known_values(value, gaussian):
    start, step = gaussian(12, 8), gaussian(12, 8, seed=1)
    step /= step.norm()
    assert value("distance_from_start", "matrix", start + 3 * step, there=start) == pytest.approx(3, rel=1e-5)
    moved = value("distance_from_start", "matrix", 1.5 * start, there=start, component="relative")
    assert moved == pytest.approx(0.5, rel=1e-6)


def test_a_rotation_of_both_changes_nothing(value, gaussian):
    start, end, turn = gaussian(9, 9), gaussian(9, 9, seed=1), torch.linalg.qr(gaussian(9, 9, seed=2)).Q
    straight = value("distance_from_start", "matrix", end, there=start)
    assert value("distance_from_start", "matrix", end @ turn, there=start @ turn) == pytest.approx(straight)


def test_a_random_walk_moves_as_the_root_of_the_step(value, gaussian):
    walk = gaussian(200, 40, 40).cumsum(0)
    steps = list(range(5, 200, 5))
    start = torch.zeros(40, 40)
    moved = [value("distance_from_start", "matrix", walk[step - 1], there=start) for step in steps]
    assert growth_law(torch.tensor(steps).numpy(), torch.tensor(moved).numpy()).power.value == pytest.approx(
        0.5, abs=0.05
    )


@pytest.mark.parametrize("side", ["here", "there"])
def test_what_has_no_distance_says_why(status, gaussian, side):
    sides = {"here": gaussian(4, 4), "there": gaussian(4, 4, seed=1)} | {side: torch.full((4, 4), torch.nan)}
    assert status("distance_from_start", "matrix", sides["here"], there=sides["there"]) == "nonfinite"


def test_all_parameters_together_are_one_vector(value, gaussian):
    start = {"w": gaussian(4, 3), "bias": gaussian(5, seed=1)}
    end = {name: tensor + gaussian(*tensor.shape, seed=2) for name, tensor in start.items()}
    expected = sum(float((end[name] - start[name]).square().sum()) for name in start) ** 0.5
    assert value("distance_from_start", "model", end, there=start) == pytest.approx(expected, rel=1e-6)
    size = sum(float(tensor.square().sum()) for tensor in start.values()) ** 0.5
    relative = value("distance_from_start", "model", end, there=start, component="relative")
    assert relative == pytest.approx(expected / size, rel=1e-6)


def test_checkpoints_of_other_parameters_have_no_distance(status, gaussian):
    assert status("distance_from_start", "model", {"w": gaussian(2)}, there={"v": gaussian(2)}) == "failed"
    assert status("distance_from_start", "matrix", gaussian(4, 4), there=gaussian(4, 5)) == "failed"


def test_a_start_at_zero_has_no_relative_distance(read, gaussian):
    rows = read("distance_from_start", "matrix", gaussian(4, 4), there=torch.zeros(4, 4))
    assert rows[""][0]["status"] == "ok"
    assert rows["relative"][0]["status"] == "zero-weight"


def test_a_run_moves_away_from_its_first_checkpoint(tmp_path):
    recipe = Recipe.from_document(
        {
            "model": {"width": 16, "layers": 1, "heads": 2},
            "objective": {"name": "copied_segments", "vocabulary": 12, "context": 16, "batch": 4}
            | {"shortest": 3, "longest": 6},
            "training": {"steps": 4},
            "recording": {"every": 4, "dense_until": 4, "samples": 0},
        }
    )
    run = train(recipe, tmp_path / "run", grade=False)
    measure(run.path, ["distance_from_start"])
    rows = Run.open(run.path).table("distance_from_start")
    rows = rows[rows["component"] == ""]
    single = rows[rows["matrix"].notna()].groupby("step")["value"].apply(lambda d: (d**2).sum() ** 0.5)
    whole = rows[rows["matrix"].isna()].set_index("step")["value"]
    ends = [load_subject(run.checkpoints[i].folder) for i in (0, -1)]

    def moved(first, last):
        return sum(float((last[name] - first[name]).square().sum()) for name in first) ** 0.5

    assert whole[0] == single[0] == 0
    assert single[4] == pytest.approx(moved(*(end.matrices() for end in ends)), rel=1e-5)
    assert whole[4] == pytest.approx(moved(*(end.parameters() for end in ends)), rel=1e-5)
    assert whole[4] > single[4]

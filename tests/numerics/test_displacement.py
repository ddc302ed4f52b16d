import math

import pytest
import torch

from ontogeny.numerics.displacement import (
    displacement_cosine_of,
    overlap_of_halves,
    subspace_overlap_of,
    update_ranks,
)
from ontogeny.vocabulary import Reading, Status


def gaussian(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def cosine(a, b, c, d):
    return displacement_cosine_of(({"w": a}, {"w": b}), ({"w": c}, {"w": d}))


def test_a_straight_line_and_its_reverse():
    start, step = gaussian(30, 20), gaussian(30, 20, seed=1)
    assert cosine(start, start + step, start + step, start + 3 * step).value == pytest.approx(1, abs=1e-12)
    assert cosine(start, start + step, start + step, start).value == pytest.approx(-1, abs=1e-12)


def test_a_random_walk_keeps_no_direction_and_approaches_its_end_as_a_root():
    walk = torch.cat([torch.zeros(1, 4000), gaussian(400, 4000)]).cumsum(0)
    assert cosine(walk[99], walk[100], walk[100], walk[101]).value == pytest.approx(0, abs=0.05)
    for t in (100, 200):
        assert cosine(walk[0], walk[t], walk[0], walk[400]).value == pytest.approx(
            math.sqrt(t / 400), abs=0.04
        )


def test_noise_around_a_point_turns_back():
    noise = gaussian(3, 40_000)
    assert cosine(noise[0], noise[1], noise[1], noise[2]).value == pytest.approx(-0.5, abs=0.02)


def test_tensors_are_one_vector():
    points = [{"a": gaussian(4, 3, seed=s), "b": gaussian(7, seed=s + 9)} for s in range(3)]
    whole = [torch.cat([p["a"].flatten(), p["b"]]) for p in points]
    found = displacement_cosine_of((points[0], points[1]), (points[1], points[2]))
    expected = torch.nn.functional.cosine_similarity(whole[1] - whole[0], whole[2] - whole[1], dim=0)
    assert found.value == pytest.approx(float(expected), abs=1e-12)
    assert found.n == 19


def test_small_float32_movements_of_large_weights_are_not_lost():
    start = 1000 * gaussian(50, 50).float()
    step = 0.25 * torch.ones(50, 50)
    assert cosine(start, start + step, start + step, start + 2 * step).value == pytest.approx(1, abs=1e-4)


def test_what_has_no_direction_says_why():
    one, other = gaussian(4, 4), gaussian(4, 4, seed=1)
    assert cosine(one, one, one, other).status is Status.CONSTANT_INPUT
    assert cosine(one, other, other, torch.full((4, 4), math.nan)).status is Status.NONFINITE
    assert cosine(one, other, other, gaussian(5, 4)).status is Status.FAILED


def test_updates_along_a_line_take_one_direction():
    step = gaussian(500)
    found = update_ranks([k * step for k in range(9)])
    assert found[""].value == 1
    assert found["effective"].value == pytest.approx(1, abs=1e-6)
    assert found[""].n == 8


@pytest.mark.parametrize(("m", "rank"), [(4, 4), (8, 8), (10, 9), (20, 18)])
def test_equal_orthogonal_updates_take_nine_tenths_of_them(m, rank):
    found = update_ranks([torch.zeros(50), *torch.eye(50)[:m].cumsum(0)])
    assert found[""].value == rank
    assert found["effective"].value == pytest.approx(m)


def test_scale_and_rotation_of_updates_change_nothing():
    walk = gaussian(9, 60).cumsum(0)
    turn = torch.linalg.qr(gaussian(60, 60, seed=1)).Q
    one, other = update_ranks(list(walk)), update_ranks(list(1e-4 * walk @ turn))
    assert one[""].value == other[""].value
    assert one["effective"].value == pytest.approx(other["effective"].value, rel=1e-9)
    assert overlap_of_halves(list(walk)).value == pytest.approx(
        overlap_of_halves(list(3 * walk @ turn)).value, rel=1e-9
    )


def test_the_same_and_orthogonal_spaces_and_random_ones():
    def walked(differences):
        return [torch.zeros(differences.shape[1]), *differences.cumsum(0)]

    axes = torch.eye(30, dtype=torch.float64)
    mixed = torch.cat([axes[:4], gaussian(4, 4) @ axes[:4]])
    assert overlap_of_halves(walked(mixed)).value == pytest.approx(1, abs=1e-12)
    assert overlap_of_halves(walked(axes[:8])).value == pytest.approx(0, abs=1e-12)
    random = [overlap_of_halves(walked(gaussian(16, 512, seed=s))).value for s in range(20)]
    assert sum(random) / 20 == pytest.approx(8 / 512, abs=0.001)


def test_overlap_is_the_mean_squared_cosine_of_principal_angles():
    here, there = (torch.linalg.qr(gaussian(40, 5, seed=s)).Q.mT for s in (0, 1))
    cosines = torch.linalg.svdvals(here @ there.mT)
    assert subspace_overlap_of(here, there).value == pytest.approx(float(cosines.square().mean()))


def test_positions_that_span_too_little_say_why():
    still = [torch.ones(20)] * 9
    assert update_ranks(still)[""].status is Status.CONSTANT_INPUT
    assert update_ranks(still)["effective"].status is Status.CONSTANT_INPUT
    for positions in (still, [k * torch.ones(20) for k in range(9)], list(gaussian(9, 3))):
        found = overlap_of_halves(positions)
        assert isinstance(found, Reading)
        assert found.status is Status.RANK_DEFICIENT
    broken = [*still[:8], torch.full((20,), math.inf)]
    assert update_ranks(broken)[""].status is Status.NONFINITE
    assert overlap_of_halves(broken).status is Status.NONFINITE

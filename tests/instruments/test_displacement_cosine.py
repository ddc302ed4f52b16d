"""TRA-02."""

import math

import pytest
import torch


def around(before, after, first, final):
    return {"before": before, "after": after, "first": first, "final": final}


def test_a_straight_line(read, gaussian):
    start, step = gaussian(20, 12), gaussian(20, 12, seed=1)
    there = around(start, start + 2 * step, start - step, start + 9 * step)
    rows = read("displacement_cosine", "matrix", start + step, there=there)
    assert rows[""][0]["value"] == pytest.approx(1, abs=1e-5)
    assert rows["overall"][0]["value"] == pytest.approx(1, abs=1e-5)
    assert rows[""][0]["n"] == 240


def test_a_random_walk(read, gaussian):
    walk = torch.cat([torch.zeros(1, 100, 200), gaussian(16, 100, 200)]).cumsum(0)
    for t in (4, 8):
        there = around(walk[t - 1], walk[t + 1], walk[0], walk[16])
        rows = read("displacement_cosine", "matrix", walk[t], there=there)
        assert rows[""][0]["value"] == pytest.approx(0, abs=0.03)
        assert rows["overall"][0]["value"] == pytest.approx(math.sqrt(t / 16), abs=0.03)


def test_noise_around_a_point(value, gaussian):
    noise = gaussian(3, 100, 200)
    there = around(noise[0], noise[2], noise[0], noise[2])
    assert value("displacement_cosine", "matrix", noise[1], there=there) == pytest.approx(-0.5, abs=0.02)


def test_all_parameters_are_one_vector_and_a_rotation_changes_nothing(value, gaussian):
    points = [{"w": gaussian(9, 9, seed=s), "bias": gaussian(9, seed=s + 50)} for s in range(4)]
    turn = torch.linalg.qr(gaussian(9, 9, seed=99)).Q
    turned = [{name: tensor @ turn for name, tensor in point.items()} for point in points]
    found = [
        value("displacement_cosine", "model", p[1], there=around(p[0], p[2], p[0], p[3]))
        for p in (points, turned)
    ]
    flat = [torch.cat([point["w"].flatten(), point["bias"]]) for point in points]
    expected = torch.nn.functional.cosine_similarity(flat[1] - flat[0], flat[2] - flat[1], dim=0)
    assert found == pytest.approx([float(expected)] * 2, abs=1e-5)


def test_what_is_missing_takes_only_its_own_number_away(read, gaussian):
    here = gaussian(4, 4)
    there = around(None, None, gaussian(4, 4, seed=1), gaussian(4, 4, seed=2))
    rows = read("displacement_cosine", "matrix", here, there=there)
    assert rows[""][0]["status"] == "no-target"
    assert rows["overall"][0]["status"] == "ok"


def test_what_has_no_direction_says_why(read, gaussian):
    here, other = gaussian(4, 4), gaussian(4, 4, seed=1)
    rows = read("displacement_cosine", "matrix", here, there=around(here, other, here, other))
    assert {rows[name][0]["status"] for name in ("", "overall")} == {"constant-input"}
    bad = torch.full((4, 4), torch.nan)
    rows = read("displacement_cosine", "matrix", here, there=around(bad, other, other, bad))
    assert {rows[name][0]["status"] for name in ("", "overall")} == {"nonfinite"}

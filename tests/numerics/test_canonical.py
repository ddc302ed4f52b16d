import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from ontogeny.numerics.canonical import (
    canonical_correlations,
    canonical_variates,
    projection_weighted,
    view_of,
)
from ontogeny.numerics.procrustes import procrustes_distance
from ontogeny.numerics.similarity import biased_cka, items_of
from ontogeny.vocabulary import Reading, Status

#: What scikit-learn and scipy find; the script beside it says how.
ORACLE = Path(__file__).parents[1] / "oracles" / "scikit_learn_similarity.json"


def gaussian(rows, columns, seed=0):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def seen(sample):
    return view_of(items_of(sample))


def correlations(here, there, share=1.0):
    """By both ways, which must agree."""
    found = canonical_variates(seen(here), seen(there), share)
    alone = canonical_correlations(seen(here), seen(there), share)
    if isinstance(found, Reading):
        assert isinstance(alone, Reading)
        assert alone.status is found.status
    else:
        torch.testing.assert_close(alone, found.correlations)
    return found


@pytest.mark.parametrize("share", [0.5, 0.99, 1.0])
@pytest.mark.parametrize("width", [3, 20, 40])
def test_f76_whatever_the_setting_a_view_is_itself(share, width):
    here = gaussian(400, width) * torch.linspace(0.1, 3, width)
    found = correlations(here, here, share)
    assert found.correlations.min() > 1 - 1e-9
    assert found.correlations.max() <= 1


def test_f76_as_many_items_as_features_give_no_correlation_at_all():
    here = gaussian(64, 64)
    found = correlations(here, here)
    assert isinstance(found, Reading)
    assert found.status is Status.RANK_DEFICIENT


@pytest.mark.parametrize(("items", "width"), [(50, 80), (64, 64), (64, 63)])
def test_f75_more_features_than_items_are_refused(items, width):
    found = correlations(gaussian(items, width), gaussian(items, width, 1))
    assert isinstance(found, Reading)
    assert found.status is Status.RANK_DEFICIENT
    assert "cka" in found.reason
    assert "fewer dimensions" in found.reason


def test_f75_few_items_for_the_directions_are_refused():
    found = correlations(gaussian(640, 65), gaussian(640, 8, 1))
    assert isinstance(found, Reading)
    assert found.status is Status.N_TOO_SMALL
    assert "650 are needed" in found.reason
    assert not isinstance(correlations(gaussian(640, 64), gaussian(640, 8, 1)), Reading)


def test_fewer_directions_do_with_fewer_items():
    strong = gaussian(100, 5) @ gaussian(5, 200, 1) + 1e-3 * gaussian(100, 200, 2)
    found = correlations(strong, strong, share=0.99)
    assert 1 <= len(found.correlations) <= 5


def test_an_invertible_map_changes_nothing():
    here = gaussian(640, 32)
    there = here @ (torch.eye(32) + 0.3 * gaussian(32, 32, 1))
    found = correlations(here, there)
    assert found.correlations.min() > 1 - 1e-9
    assert projection_weighted(seen(here), found.here, found.correlations) == pytest.approx(1, abs=1e-9)
    assert projection_weighted(seen(there), found.there, found.correlations) == pytest.approx(1, abs=1e-9)


def test_independent_views_correlate_by_chance():
    found = correlations(gaussian(640, 64), gaussian(640, 64, 1)).correlations
    assert found.mean() == pytest.approx(0.27, abs=0.01)
    assert found.square().mean() == pytest.approx(0.099, abs=0.005)
    assert found.square().mean() == pytest.approx(64 / 639, abs=0.005)


def test_known_correlations_come_out():
    shared, noise = gaussian(20_000, 3), gaussian(20_000, 3, 1)
    rho = torch.tensor([0.9, 0.5, 0.1], dtype=torch.float64)
    there = shared * rho + noise * (1 - rho.square()).sqrt()
    found = correlations(shared, there @ gaussian(3, 3, 2))
    torch.testing.assert_close(found.correlations, rho, atol=0.02, rtol=0)


def test_weights_are_what_is_written_down():
    here, there = gaussian(400, 6) * torch.arange(1.0, 7), gaussian(400, 4, 1)
    there[:, :2] += here[:, :2]
    found, view = correlations(here, there), seen(here)
    variates = view.factors.left @ found.here
    alpha = (variates.mT @ (here - here.mean(0))).abs().sum(1)
    expected = float((alpha / alpha.sum()) @ found.correlations)
    assert projection_weighted(view, found.here, found.correlations) == pytest.approx(expected, rel=1e-10)
    assert expected != pytest.approx(float(found.correlations.mean()), abs=0.01)


def test_rounding_of_float32_is_no_direction():
    low = (gaussian(500, 4) @ gaussian(4, 30, 1)).float()
    assert seen(low).directions(1.0) == 4
    assert seen(gaussian(500, 30)).directions(1.0) == 30


def test_directions_hold_the_share():
    view = seen(gaussian(400, 8) * torch.tensor([10.0, 1, 1, 1, 1, 1, 1, 1]))
    held = view.factors.values.square().cumsum(0) / view.factors.values.square().sum()
    k = view.directions(0.97)
    assert held[k - 1] >= 0.97
    assert held[k - 2] < 0.97


def test_what_has_no_directions_says_why():
    constant = view_of(items_of(torch.ones(50, 3)))
    assert isinstance(constant, Reading)
    assert constant.status is Status.CONSTANT_INPUT
    unequal = canonical_correlations(seen(gaussian(50, 3)), seen(gaussian(60, 3)), 1.0)
    assert isinstance(unequal, Reading)
    assert unequal.status is Status.FAILED
    broken = items_of(torch.full((50, 3), math.nan))
    assert isinstance(broken, Reading)
    assert broken.status is Status.NONFINITE


def views(seed, items, width, other, shared):
    rng = np.random.RandomState(seed)
    here, there = rng.standard_normal((items, width)), rng.standard_normal((items, other))
    there[:, :shared] += here[:, :shared] * np.linspace(3, 0.2, shared)
    return torch.from_numpy(here), torch.from_numpy(there)


def test_scikit_learn_and_scipy_find_the_same():
    for name, expected in json.loads(ORACLE.read_text())["views"].items():
        here, there = views(*map(int, name.split()))
        found = correlations(here, there).correlations
        np.testing.assert_allclose(found.numpy(), expected["canonical"], atol=1e-9)
        assert float(found[0]) == pytest.approx(expected["first_correlation"], abs=1e-5)
        assert biased_cka(here, there).value == pytest.approx(expected["biased_cka"], rel=1e-9)
        if "procrustes" in expected:
            distance = procrustes_distance(items_of(here), items_of(there)).value
            assert distance == pytest.approx(expected["procrustes"], rel=1e-9)

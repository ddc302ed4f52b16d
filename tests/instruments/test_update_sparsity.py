"""TRA-06."""

import pytest
import torch


def test_no_training_is_wholly_sparse(read, gaussian):
    rows = read("update_sparsity", "matrix", gaussian(20, 10), there=gaussian(20, 10))
    assert {row[0]["value"] for name, row in rows.items() if name != "rank"} == {1.0}
    assert rows["rank"][0]["value"] == 0
    assert rows[""][0]["n"] == 200


def test_a_dense_step_moves_everything_in_float32(read, gaussian):
    start = gaussian(100, 60)
    rows = read("update_sparsity", "matrix", start - 0.01 * gaussian(100, 60, seed=1), there=start)
    assert rows[""][0]["value"] < 0.01
    assert rows["unmoved_0"][0]["value"] < 0.001
    assert rows["rank"][0]["value"] == 60


def test_tolerances_are_told_apart(read):
    start = torch.zeros(2, 5)
    moved = torch.tensor([[0, 0, 0, 5e-8, 5e-8], [5e-7, 5e-6, 5e-6, 5e-6, 5e-5]])
    rows = read("update_sparsity", "matrix", moved, there=start)
    found = [rows[f"unmoved_{name}"][0]["value"] for name in ("0", "1e-07", "1e-06", "1e-05")]
    assert found == pytest.approx([0.3, 0.5, 0.6, 0.9])
    assert rows[""][0]["value"] == rows["unmoved_1e-05"][0]["value"]


def test_a_bfloat16_copy_would_show_rounding(read):
    start = 0.01 + 0.001 * torch.rand(50, 50, generator=torch.Generator().manual_seed(0))
    rows = read("update_sparsity", "matrix", start + 2e-5, there=start)
    assert rows[""][0]["value"] == 0
    assert 0.5 < rows["bfloat16_0"][0]["value"] < 0.8
    assert rows["bfloat16_1e-05"][0]["value"] == rows["bfloat16_0"][0]["value"]


def test_weights_kept_in_bfloat16_are_read_as_they_are(read, gaussian):
    start = gaussian(40, 40).bfloat16().float()
    moved = start.clone()
    moved[:8] = (moved[:8] * 1.02).bfloat16().float()
    rows = read("update_sparsity", "matrix", moved, there=start)
    assert rows["unmoved_0"][0]["value"] == rows["bfloat16_0"][0]["value"] == 0.8


def test_a_product_of_low_rank_has_its_rank(read, gaussian):
    start = gaussian(40, 30).double()
    change = gaussian(40, 4, seed=1).double() @ gaussian(4, 30, seed=2).double()
    rows = read("update_sparsity", "matrix", start + change, there=start)
    assert rows["rank"][0]["value"] == 4


def test_all_parameters_are_counted_together(read):
    here = {"w": torch.zeros(6, 5), "bias": torch.ones(10)}
    there = {"w": torch.zeros(6, 5), "bias": torch.zeros(10)}
    rows = read("update_sparsity", "model", here, there=there)
    assert rows[""][0]["value"] == 0.75
    assert "rank" not in rows


def test_a_permutation_changes_nothing(value, gaussian):
    start = gaussian(12, 9)
    moved = torch.where(gaussian(12, 9, seed=1) > 0, start, start + 1)
    order = torch.randperm(12, generator=torch.Generator().manual_seed(0))
    assert value("update_sparsity", "matrix", moved[order], there=start[order]) == value(
        "update_sparsity", "matrix", moved, there=start
    )


def test_what_cannot_be_counted_says_why(status, gaussian):
    good = gaussian(4, 4)
    assert status("update_sparsity", "matrix", good * torch.nan, there=good) == "nonfinite"
    assert status("update_sparsity", "matrix", good, there=gaussian(4, 5)) == "failed"

"""HEA-08."""

import pytest
import torch

from ontogeny.catalogue import measuring_part
from ontogeny.testing import measured_on, tiny_subject


def outputs(vectors: torch.Tensor) -> torch.Tensor:
    """n vectors a head [n head channel] as one sequence, behind a position 0 that must not matter."""
    return torch.cat([torch.full((1, *vectors.shape[1:]), 1e6), vectors])[None]


def values(read, vectors: torch.Tensor) -> list[float]:
    return [row["value"] for row in read("head_dimension", "head_output", outputs(vectors))[""]]


def test_isotropic_output_uses_every_channel(read, gaussian):
    rows = read("head_dimension", "head_output", outputs(gaussian(4000, 3, 8)))
    assert [row["value"] for row in rows[""]] == pytest.approx([8] * 3, rel=0.02)
    assert [row["head"] for row in rows[""]] == [0, 1, 2]
    assert rows[""][0]["n"] == 4000


def test_k_equal_variances_are_k_and_one_direction_is_one(read):
    corners = torch.cat([torch.eye(8), -torch.eye(8)]).repeat(30, 1)
    three, one = corners.clone(), torch.zeros(480, 8)
    three[:, 3:] = 0
    one[:, 2] = torch.arange(480.0)
    found = values(read, torch.stack([corners, three, one], 1))
    assert found == pytest.approx([8, 3, 1], rel=1e-9)


def test_a_mean_a_scale_and_a_rotation_change_nothing(read, gaussian):
    vectors = gaussian(500, 2, 6) * torch.linspace(0.2, 2, 6)
    turn = torch.linalg.qr(gaussian(6, 6, seed=1)).Q
    assert values(read, 30 * vectors @ turn + 100) == pytest.approx(values(read, vectors), rel=1e-4)


def test_dead_constant_and_broken_heads_say_which(read, gaussian):
    vectors = gaussian(500, 4, 6)
    vectors[:, 0], vectors[:, 1], vectors[7, 2, 0] = 0, 5, torch.nan
    statuses = [row["status"] for row in read("head_dimension", "head_output", outputs(vectors))[""]]
    assert statuses == ["zero-output", "constant-input", "nonfinite", "ok"]


@pytest.mark.parametrize(("vectors", "expected"), [(299, "n-too-small"), (300, "ok")])
def test_fifty_vectors_a_channel_are_needed(status, gaussian, vectors, expected):
    assert status("head_dimension", "head_output", outputs(gaussian(vectors, 2, 6))) == expected


def of_weights(subject) -> dict[tuple[str, int, int], dict]:
    rows = measured_on(subject, measuring_part("head_dimension")).rows
    return {(row["component"], row["layer"], row["head"]): row for row in rows if row["component"]}


def test_circuits_are_counted_by_their_singular_values():
    subject = tiny_subject(init_scale=0.2, kv_heads=2)
    rows = of_weights(subject)
    assert len(rows) == 2 * 2 * 4
    heads = subject.head_weights(1)
    for head in range(4):
        wide = {
            "query_key": heads.query[head].mT @ heads.key[head],
            "value_output": heads.output[head] @ heads.value[head],
        }
        for name, matrix in wide.items():
            squares = torch.linalg.svdvals(matrix.double()).square()
            expected = float(squares.sum() ** 2 / squares.square().sum())
            assert rows[name, 1, head]["value"] == pytest.approx(expected, rel=1e-5)


def test_orthogonal_weights_use_every_channel_and_zero_ones_say_why():
    subject = tiny_subject(width=48)
    rows = torch.linalg.qr(torch.randn(48, 48, generator=torch.Generator().manual_seed(0))).Q
    attention = subject.model.blocks[0].attention
    for name in ("query", "key", "value", "output"):
        getattr(attention, name).weight.data.copy_(rows)
    attention.query.weight.data[:12] = 0
    found = of_weights(subject)
    assert found["query_key", 0, 0]["status"] == "zero-weight"
    assert found["query_key", 0, 1]["value"] == pytest.approx(12, rel=1e-5)
    assert found["value_output", 0, 0]["value"] == pytest.approx(12, rel=1e-5)

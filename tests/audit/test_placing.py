"""Pairs, parts and wholes of what is out of place."""

from ontogeny.audit.placing import displacements
from ontogeny.audit.weight_path import WeightPath

from .conftest import SHARD, imprints_of


def _path(series):
    return WeightPath.of(imprints_of({step: series[step] for step in series if step}))


def test_a_clean_path_has_nothing_out_of_place(clean):
    assert displacements(_path(clean)).points == set()


def test_pairs_wholes_and_parts_are_kept_apart(clean, twin):
    part = {name: tensor for name, tensor in twin[130].items() if name.startswith(SHARD)}
    spoiled = {**clean, 30: clean[90], 90: clean[30], 60: twin[60], 130: {**clean[130], **part}}
    path = _path(spoiled)
    found = displacements(path)
    assert [tuple(path.steps[i] for i in pair) for pair in found.pairs] == [(30, 90)]
    assert [path.steps[one.point] for one in found.whole] == [60]
    assert [path.steps[one.point] for one in found.parts] == [130]
    assert all(path.names[t].startswith(SHARD) for t in found.parts[0].tensors)

"""Connected equal points."""

from ontogeny.audit.sharing import components, sharing_findings


def test_components_of_a_graph():
    assert sorted(components([(0, 1), (1, 2), (5, 6)])) == [[0, 1, 2], [5, 6]]
    assert components([]) == []


def test_shared_points_of_one_pair_of_series_are_one_finding():
    groups = [[("a", 3), ("b", 3)], [("a", 4), ("b", 4)], [("a", 5), ("a", 6)]]
    (found,) = sharing_findings(groups, {"a": {0}, "b": {0}}, "weights")
    assert (found.kind, found.steps, found.series) == ("shared-checkpoint", (3, 4), "a | b")

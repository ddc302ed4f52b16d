"""Seeds by their starts."""

from ontogeny.audit.descent import family_findings, relation

from .conftest import imprints_of


def test_a_series_descends_from_its_own_start_only(clean, twin):
    one, other = imprints_of(clean), imprints_of(twin)
    assert relation(one[0], one[2]) > 0.5
    assert abs(relation(other[0], one[2])) < 0.2
    assert not list(family_findings({"one": one, "other": other}))


def test_branches_share_what_came_before(clean, twin):
    branch = {step: (clean if step < 100 else twin)[step] for step in clean}
    found = family_findings({"trunk": imprints_of(clean), "branch": imprints_of(branch)})
    steps = {one.kind: one.steps for one in found}
    assert set(steps) == {"same-initialisation", "shared-checkpoint"}
    assert max(steps["shared-checkpoint"]) == 90


def test_a_checkpoint_of_another_series_under_another_step(clean, twin):
    spoiled = imprints_of({**twin, 50: clean[80]})
    (found,) = family_findings({"one": imprints_of(clean), "other": spoiled})
    assert (found.kind, found.steps) == ("foreign-checkpoint", (50, 80))

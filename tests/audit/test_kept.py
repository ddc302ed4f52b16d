"""What an audit found is kept beside the rows; errors are a warning in Python."""

import pytest

from ontogeny.audit import Finding, Severity, kept, look_over, quick, warn_of_errors
from ontogeny.errors import AuditWarning
from ontogeny.measure import measure
from ontogeny.series import Series
from small_checkpoints import save_model, small_model


def made(step: int):
    raise AssertionError("nothing is made for a look")


@pytest.fixture
def doubled(tmp_path):
    for step in (1, 2, 3):
        save_model(tmp_path / "them" / f"step{step}", min(step, 2))
    return Series.open(tmp_path / "them")


def test_it_comes_back_as_it_was(doubled):
    assert kept(doubled.home) is None
    found = look_over(doubled)
    assert found == quick(doubled)
    assert kept(doubled.home) == found
    assert [one.kind for one in found.errors] == ["duplicate-checkpoint"]
    assert found.errors[0].steps == (2, 3)


def test_errors_warn_and_nothing_is_refused(doubled):
    with pytest.warns(AuditWarning, match=r"duplicate-checkpoint: them: steps 2, 3 agree"):
        assert measure(doubled, ["stable_rank"]) == 3
    told = []
    assert measure(doubled, ["stable_rank"], audited=told.append) == 0
    assert told == [kept(doubled.home)]


def test_notes_are_no_warning(tmp_path):
    for step in (1, 2, 3, 4, 5, 60):
        save_model(tmp_path / "them" / f"step{step}", step)
    found = look_over(Series.open(tmp_path / "them"))
    assert found.sound
    warn_of_errors(found)
    assert Finding("missing-points", "", "").severity == Severity.NOTE


def test_what_a_function_makes_is_not_made_for_a_look(tmp_path):
    series = Series.of(made, [1, 2], name="made", home=tmp_path / "rows")
    assert look_over(series).found == ()
    assert kept(tmp_path / "rows") is None
    ours = Series.of(small_model, [1, 2], name="made", home=tmp_path / "rows")
    assert measure(ours, ["stable_rank"]) == 2

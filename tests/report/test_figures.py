import pytest

from ontogeny import views
from ontogeny.errors import BadArgument, UnknownName
from ontogeny.report import RunTables
from ontogeny.report.figures import figure_of


@pytest.fixture(scope="module")
def tables(made_up):
    return RunTables(
        made_up.identity(),
        made_up.telemetry(last=300),
        made_up.rows(),
        made_up.transitions(),
        made_up.samples(),
    )


def test_a_view_by_name_is_that_view(tables):
    assert figure_of(tables, "samples") == views.samples(tables.samples)
    expected = views.head_grid(
        tables.rows, tables.transitions, part="previous_token_attention", steps=(0, 4000)
    )
    given = {"part": "previous_token_attention", "steps": "0,4000"}
    assert figure_of(tables, "head_grid", given) == expected
    assert figure_of(tables, "samples", {"most": "2"}) == views.samples(tables.samples, most=2)


def test_unknown_names_and_unreadable_values_are_refused(tables):
    with pytest.raises(UnknownName, match="no view is called 'grid'"):
        figure_of(tables, "grid")
    with pytest.raises(UnknownName, match="no parameter of the view 'samples' is called 'many'"):
        figure_of(tables, "samples", {"many": 2})
    with pytest.raises(BadArgument, match="most cannot be read"):
        figure_of(tables, "samples", {"most": "few"})

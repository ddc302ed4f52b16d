import pandas as pd
import pytest

from changes import change, table
from ontogeny.detect import over_seeds
from ontogeny.views import seeds_table


@pytest.fixture
def seeds() -> pd.DataFrame:
    runs = {
        f"seed-{n}": table(change(step=step, layer=1, head=n), change("loss", claimed=False, step=None))
        for n, step in enumerate((80.0, 100.0, 125.0))
    }
    return over_seeds(runs)


def test_what_some_run_claims_is_a_row_and_the_rest_is_counted(seeds):
    figure = seeds_table(seeds)
    (row,) = figure.table.rows
    titles = [column.title for column in figure.table.columns]
    told = dict(zip(titles, row, strict=True))
    assert told["part"] == "induction"
    assert told["shown"] == "3 of 3"
    assert told["step"] == pytest.approx(100)
    assert told["95 % over runs"] == (pytest.approx(57.5, abs=0.1), pytest.approx(174.1, abs=0.1))
    assert "in controls" not in titles
    assert "runs" not in titles
    assert figure.note == "2 changes looked for over seeds; 1 of them claimed in no run."


def test_controls_and_groups_have_columns_where_there_are_some(seeds):
    figure = seeds_table(seeds.assign(controls=4, controls_shown=0, group="lr=0.1"))
    titles = [column.title for column in figure.table.columns]
    told = dict(zip(titles, figure.table.rows[0], strict=True))
    assert (told["runs"], told["in controls"]) == ("lr=0.1", "0 of 4")


def test_one_run_has_no_interval_and_no_p_and_its_reason():
    figure = seeds_table(over_seeds({"only": table(change())}))
    told = dict(zip([c.title for c in figure.table.columns], figure.table.rows[0], strict=True))
    assert told["95 % over runs"] is told["p"] is None
    assert "one run has no p" in told["reason"]


def test_an_empty_table_has_no_rows():
    assert seeds_table(pd.DataFrame()).table.rows == ()

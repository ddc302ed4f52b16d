import pandas as pd

from ontogeny.views import transition_table


def test_claims_come_first_in_steps_order(made_up):
    table = transition_table(made_up.transitions()).table
    verdicts = [row[3] for row in table.rows]
    assert len(table.rows) == 30
    assert verdicts[:4] == ["transition"] * 3 + ["gradual"]
    assert [row[4] for row in table.rows[:3]] == [385.0, 645.0, 910.0]


def test_one_verdict_needs_no_column(made_up):
    figure = transition_table(made_up.transitions(), verdicts=("transition",))
    assert "verdict" not in [column.title for column in figure.table.columns]
    assert figure.table.rows[0] == (
        "previous token attention", "layer 0 head 1", "repeated tokens", 385.0, (330.0, 430.0), 0.79,
        "share of attention", 0.0005, "",
    )  # fmt: skip
    assert figure.note == "3 of 30 series looked at."


def test_the_interval_is_named_after_its_level(made_up):
    table = made_up.transitions().assign(level=0.9)
    titles = [column.title for column in transition_table(table).table.columns]
    assert "90 % interval" in titles


def test_kind_and_q_have_columns_where_something_is_known_of_them(made_up):
    plain = [column.title for column in transition_table(made_up.transitions()).table.columns]
    assert not {"kind", "q"} & set(plain)
    table = made_up.transitions().assign(kind="rise", q=0.25)
    found = transition_table(table, verdicts=("transition",)).table
    titles = [column.title for column in found.columns]
    assert titles.index("kind") == titles.index("step") - 1
    assert found.rows[0][titles.index("kind")] == "rise"
    assert found.rows[0][titles.index("q")] == 0.25
    assert "kind" not in [c.title for c in transition_table(table.assign(kind="")).table.columns]


def test_an_empty_table_has_no_rows():
    assert transition_table(pd.DataFrame()).table.rows == ()

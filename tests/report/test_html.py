from hypothesis import given
from hypothesis import strategies as st

from ontogeny.report.html import facts, name, section, table, text
from ontogeny.views.figure import Column, Table


@given(st.text())
def test_no_text_leaves_its_element(words):
    for written in (text(words), name(words).removeprefix("<bdi>").removesuffix("</bdi>")):
        assert not set(written) & set("<>\"'")
        assert "\x00" not in written


def test_a_table_writes_cells_by_kind_and_drops_empty_columns():
    columns = (
        Column("who", "name"),
        Column("step", "step"),
        Column("when", "interval"),
        Column("why", "prose"),
    )
    written = table(Table(columns, (("<a>", 1240.0, (1.0, None), ""), ("b", None, None, None))))
    assert "<bdi>&lt;a&gt;</bdi>" in written
    assert ">1,240<" in written
    assert ">1 – …<" in written
    assert "why" not in written
    assert table(Table(columns, ())) == ""


def test_an_empty_section_is_nothing():
    assert section("a", "A", "", "") == ""
    assert facts([]) == ""

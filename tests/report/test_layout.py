from ontogeny.report.layout import bar_right, end_labels, lay_out, rail_label, rail_label_left, shared_bar
from ontogeny.views.figure import Figure, Heat, Line, Panel, Rail, Rule


def line(label: str) -> Line:
    return Line(label, (0.0, 10.0), (0.0, 1.0))


def test_panels_stand_in_rows_without_overlap():
    figure = Figure("f", tuple(Panel(str(n), (line("a"),)) for n in range(5)), columns=2)
    frames = lay_out(figure, 860.0, True).frames
    assert [frame.x for frame in frames] == [0, 445, 0, 445, 0]
    assert frames[2].y >= frames[0].top + frames[0].high
    assert [frame.last_row for frame in frames] == [False, False, False, True, True]


def test_labelled_transitions_and_rails_get_room_above_the_plot():
    plain = lay_out(Figure("f", (Panel("a", (line("a"),)),)), 860.0, False).frames[0]
    rules = (Rule(1.0, label="first"), Rule(1.1, label="second"))
    rail = Rail("nonfinite", (3.0,), (2,), "non-finite")
    full = lay_out(Figure("f", (Panel("a", (line("a"), *rules, rail)),)), 860.0, False).frames[0]
    assert full.top - plain.top == 2 * 14 + 13
    assert rail_label(full.panel) == "2 non-finite"


def test_too_many_labels_are_none():
    assert len(end_labels(Panel("a", tuple(line(str(n)) for n in range(6))))) == 6
    assert end_labels(Panel("a", tuple(line(str(n)) for n in range(7)))) == []


def test_a_colour_scale_is_shared_only_if_it_is_one():
    def panel(high: float) -> Panel:
        return Panel("a", (Heat("s", ("0",), ("0",), ((0.5,),), 0.0, high),))

    assert shared_bar(Figure("f", (panel(1.0), panel(1.0)))) is not None
    assert shared_bar(Figure("f", (panel(1.0), panel(2.0)))) is None
    assert shared_bar(Figure("f", (panel(1.0),))) is None


def test_a_rails_label_keeps_off_its_marks():
    def begin(*x: float, wide: float = 60.0) -> float:
        rail = Rail("missing", x, (1,) * len(x), "undefined")
        return rail_label_left(
            Panel("a", (rail,), x_scale="linear", x_range=(0.0, 100.0)), 200.0, 230.0, wide
        )

    assert begin(0.0) == 140.0
    assert begin(100.0) == 200.0 - 8.0 - 60.0
    assert begin(0.0, 75.0) == 158.0
    assert begin(0.0, 95.0) == 190.0 - 8.0 - 60.0
    assert begin(50.0, 100.0, wide=80.0) == 200.0 - 8.0 - 80.0
    assert begin(50.0, 100.0, wide=96.0) == 0.0


def test_the_colour_scale_of_a_small_grid_stands_beside_its_title():
    small, large = (
        lay_out(Figure("f", (Panel("some title", (grid(columns),), x_scale="linear"),)), 860.0, False).frames[
            0
        ]
        for columns in (2, 30)
    )
    assert bar_right(small) > small.left + small.wide
    assert bar_right(large) == large.left + large.wide


def grid(columns: int) -> Heat:
    return Heat("share", tuple(map(str, range(columns))), ("0",), ((0.5,) * columns,), 0.0, 1.0)

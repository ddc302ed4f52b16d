import pandas as pd

from ontogeny.views import not_found


def test_series_are_grouped_and_all_accounted_for(made_up):
    figure = not_found(made_up.transitions())
    assert figure.note == "27 series without a claim, of 30 looked at."
    assert [row[:3] for row in figure.table.rows] == [
        ("induction attention", "repeated tokens", "none"),
        ("previous token attention", "repeated tokens", "none"),
        ("first token attention", "repeated tokens", "none"),
        ("effective rank", "heldout", "gradual"),
        ("residual norm", "heldout", "unfinished"),
    ]
    assert figure.table.rows[2][3] == "L0 H0, L0 H1, L0 H2, L0 H3, L1 H0, L1 H1 and 2 more"
    assert figure.table.rows[3][3:] == ("L0, L1, L2", "wider than ln 20 in step")


def test_reasons_that_differ_in_numbers_or_reservations_are_one():
    table = pd.DataFrame({
        "part": "a", "verdict": "none", "layer": [0, 1, 2], "reason": [
            "size 0.2 times the noise; 6 quiet", "size 1.4 times the noise", "too few",
        ],
    })  # fmt: skip
    assert [row[3:] for row in not_found(table).table.rows] == [
        ("L0, L1", "size … times the noise"),
        ("L2", "too few"),
    ]


def test_an_empty_table_has_no_rows():
    assert not_found(pd.DataFrame()).table.rows == ()


def test_numbers_that_all_reasons_share_stay():
    reasons = [f"10 to 90 % takes {width} in ln step" for width in (2.1, 3.5)]
    table = pd.DataFrame({"part": "a", "verdict": "gradual", "layer": [0, 1], "reason": reasons})
    assert not_found(table).table.rows[0][4] == "10 to 90 % takes … in ln step"


def test_what_is_said_alike_of_many_parts_is_said_once():
    said = {"verdict": "none", "reason": "no null is known"}
    many = pd.DataFrame([{"part": f"part_{n}", "layer": layer, **said} for n in range(7) for layer in (0, 1)])
    few = pd.DataFrame([{"part": "heads", "verdict": "none", "layer": 1, "reason": "too small"}])
    rows = not_found(pd.concat([many, few])).table.rows
    assert [row[3:] for row in rows] == [("L1", "too small"), ("14 series", "no null is known")]
    assert rows[1][0] == "part 0, part 1, part 2, part 3, part 4, part 5, part 6"

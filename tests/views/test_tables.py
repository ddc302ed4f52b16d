import pandas as pd

from ontogeny.views.tables import clearest, geometric, place_words, short_place, strongest, variants


def test_places_in_words():
    row = pd.Series({"layer": 1, "head": 6.0, "loop": None, "matrix": pd.NA, "site": float("nan")})
    assert place_words(row) == "layer 1 head 6"
    assert short_place(row) == "L1 H6"
    assert place_words({}) == "whole model"


def rows(**columns) -> pd.DataFrame:
    return pd.DataFrame({"part": "a", "step": 0, "value": 1.0, **columns})


def test_a_parts_own_number_stands_for_it():
    found = list(variants(rows(component=["", "biased", "null:x"])))
    assert [said for said, _ in found] == [""]
    assert found[0][1].index.tolist() == [0]


def test_components_are_told_apart_where_no_number_is_the_parts_own():
    found = dict(variants(rows(component=["first", "with_last", "null:x"])))
    assert sorted(found) == ["first", "with last"]


def test_stimuli_are_told_apart():
    found = dict(variants(rows(component=["", ""], stimulus_name=["heldout", "repeated_tokens"])))
    assert sorted(found) == ["heldout", "repeated tokens"]


def test_what_was_measured_again_counts_as_last_measured():
    (_, found), *rest = variants(rows(layer=[0, 0], version=[1, 2]))
    assert found["version"].tolist() == [2]
    assert not rest


def test_the_strongest_place_speaks_for_its_part():
    table = pd.DataFrame(
        {
            "part": ["a", "a", "b"],
            "verdict": "transition",
            "step": [5, 9, 1],
            "size": [0.1, -0.8, 0.2],
        }
    )
    assert strongest(table)[["part", "step"]].to_numpy().tolist() == [["b", 1], ["a", 9]]


def test_geometric_keeps_both_ends_and_the_limit():
    chosen = geometric(range(5000), 8)
    assert (chosen[0], chosen[-1], len(chosen)) == (0, 4999, 8)
    assert geometric([3, 1], 8) == [1, 3]


def test_a_handful_stands_out_from_its_noise():
    """Sizes in units of their own noise: 1 of 0.1 is more than 5 of 1; in steps' order."""
    table = pd.DataFrame(
        {
            "part": list("abcd"),
            "verdict": "transition",
            "step": [9.0, 5.0, 1.0, 3.0],
            "size": [1.0, 5.0, -3.0, 2.0],
            "quiet_sd": [0.1, 1.0, 1.0, None],
        }
    )
    assert clearest(table, 2)["part"].tolist() == ["b", "a"]
    assert clearest(table)["part"].tolist() == ["c", "d", "b", "a"]
    assert clearest(pd.DataFrame()).empty

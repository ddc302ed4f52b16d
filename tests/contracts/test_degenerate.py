"""Over the whole catalogue: what cannot be read is a status; nothing depends on how it was looked at."""

import pytest

from ontogeny.catalogue import comparison, part, parts
from ontogeny.testing import (
    CUTS,
    DISTORTIONS,
    broken_promises,
    check_degenerate,
    degenerate_rows,
    temporary_catalogue,
)
from ontogeny.vocabulary import Status

KINDS = ("instrument", "comparison", "fit")
PARTS = [
    made
    for kind in KINDS
    for made in parts(kind).values()
    if made.make.__module__.startswith("ontogeny.") and not made.online
]
UNITS = {made.name: made.unit for made in PARTS}


@pytest.mark.parametrize("distortion", DISTORTIONS)
def test_distorted_input_gives_a_status(distortion):
    rows = degenerate_rows(PARTS, distortion)
    assert {row["part"] for row in rows} == set(UNITS), "a part that says nothing"
    assert not broken_promises(rows, UNITS)


@pytest.mark.parametrize("cut", CUTS)
def test_too_little_input_gives_a_status(cut):
    rows = degenerate_rows(PARTS, cut=cut)
    assert {row["part"] for row in rows} == set(UNITS), "a part that says nothing"
    assert not broken_promises(rows, UNITS)


def ordered(rows: list[dict]) -> list[dict]:
    keys = ("part", "component", "stimulus_name", "place_to", "layer", "head", "matrix", "neuron", "feature")
    return sorted(rows, key=lambda row: [str(row.get(key, "")) for key in (*keys, "position", "item")])


def test_neither_the_order_of_layers_nor_that_of_parts_matters():
    plain = ordered(degenerate_rows(PARTS))
    assert ordered(degenerate_rows(PARTS, reverse=True)) == plain
    assert ordered(degenerate_rows(PARTS[::-1])) == plain


def test_neither_does_the_cut():
    whole, cut = (ordered(degenerate_rows(PARTS, batch=batch)) for batch in (24, 5))
    assert len(whole) == len(cut) > 100
    for one, other in zip(whole, cut, strict=True):
        loose = ("value", "low", "high", "array")
        assert {k: v for k, v in one.items() if k not in loose} == {
            k: v for k, v in other.items() if k not in loose
        }
        if one["value"] is not None:
            assert one["value"] == pytest.approx(other["value"], rel=1e-4, abs=1e-6), one


def test_distortions_reach_what_is_read():
    """Otherwise this suite would hold of anything."""
    rows = degenerate_rows(PARTS, "NaN")
    nothing = {row["status"] for row in rows if row["part"] in UNITS and row["component"] == ""}
    assert nothing
    assert Status.OK not in nothing
    plain = {(row["part"], row["status"]) for row in degenerate_rows(PARTS)}
    assert {name for name, status in plain if status == Status.OK} > {"cka", "induction", "stable_rank"}


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda x: 1 / int(x.isfinite().all()), "ZeroDivisionError"),
        (lambda x: 1.5, "1.5 is beyond 1"),
    ],
)
def test_a_part_that_breaks_its_promise_is_caught(returned, said):
    with temporary_catalogue():

        @comparison(unit="similarity", source="a test")
        def proof_careless(residual_sample):
            """Careless.

            Known: no.
            Misleads: no.
            """
            return returned(residual_sample.here)

        with pytest.raises(AssertionError, match=said):
            check_degenerate(part("comparison", "proof_careless"))

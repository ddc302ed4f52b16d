"""What is too long for rows is kept once, and read when it is asked for."""

import math

import pandas as pd
import pytest
import torch

from ontogeny.catalogue import instrument, part
from ontogeny.errors import BadContract, Damaged, UnknownName
from ontogeny.measure import measure
from ontogeny.measure import reading_rows as module
from ontogeny.measure.reading_rows import kept_rows
from ontogeny.store.run import Run
from ontogeny.testing import temporary_catalogue
from ontogeny.vocabulary import Place, Reading


@pytest.fixture(autouse=True)
def parts_of_their_own():
    with temporary_catalogue():

        @instrument(unit="nats", source="a test", family="tokens", array=("item", "position"))
        def proof_losses(token_loss, *, scale: float = 1.0):
            """The loss of every token.

            Known: nothing.
            Misleads: no.
            """
            return Reading((token_loss.loss * scale).double().mean(), array=token_loss.loss * scale)

        @instrument(unit="norm", source="a test", family="activations", array=("feature",))
        def proof_means(residual_gram):
            """The mean vector of every layer.

            Known: nothing.
            Misleads: no.
            """
            return Reading(residual_gram.total.norm(), array=residual_gram.total / residual_gram.n)

        yield


def test_the_array_of_every_step_is_there_and_agrees_with_its_number(run_of):
    home = run_of("run")
    assert measure(home, ["proof_losses"]) == 5
    run = Run.open(home)
    course = run.arrays("proof_losses")
    assert course.steps.tolist() == [0, 1, 2, 4, 6]
    whole = course.stacked()
    assert whole.ndim == 3
    assert torch.equal(whole[3], course[3])
    numbers = run.rows("proof_losses").values
    assert numbers == pytest.approx(whole.double().mean((1, 2)).numpy(), rel=1e-12)
    assert measure(home, ["proof_losses"]) == 0
    assert not run.verify()


def test_places_and_settings_are_told_apart(run_of):
    home = run_of("run")
    measure(home, ["proof_means", "proof_losses", "proof_losses(scale=2.0)"])
    run = Run.open(home)
    with pytest.raises(BadContract, match="2 places"):
        run.arrays("proof_means")
    one, other = (run.arrays("proof_means", layer=layer).stacked() for layer in (0, 1))
    assert one.shape == other.shape == (5, 16)
    assert not torch.equal(one, other)
    double = run.arrays("proof_losses", settings="scale=2.0").stacked()
    assert torch.allclose(double, 2 * run.arrays("proof_losses").stacked())
    assert run.rows("proof_losses", settings="scale=2.0").values == pytest.approx(
        2 * run.rows("proof_losses").values
    )
    with pytest.raises(UnknownName, match="settings"):
        run.rows("proof_losses", settings="scale=3.0")
    with pytest.raises(UnknownName, match="with arrays"):
        run.arrays("proof_losses", component="other")


def test_a_lost_array_is_measured_again(run_of):
    home = run_of("run")
    measure(home, ["proof_losses"])
    before = Run.open(home).arrays("proof_losses").stacked()
    for pack in (home / "arrays").iterdir():
        pack.unlink()
    with pytest.raises(Damaged, match="missing"):
        Run.open(home).arrays("proof_losses")[0]
    assert measure(home, ["proof_losses"]) == 5
    assert torch.equal(Run.open(home).arrays("proof_losses").stacked(), before)


def test_a_wrong_bit_is_found_when_it_is_read(run_of):
    home = run_of("run")
    measure(home, ["proof_losses"])
    (pack,) = (home / "arrays").iterdir()
    content = bytearray(pack.read_bytes())
    content[-1] ^= 1
    pack.write_bytes(content)
    course = Run.open(home).arrays("proof_losses")
    with pytest.raises(Damaged, match="not what its name says"):
        course.stacked()


def test_many_numbers_are_one_row_and_an_array(monkeypatch):
    made = part("instrument", "induction")
    monkeypatch.setattr(module, "MOST_ROWS", 3)
    values = torch.tensor([1.0, math.nan, 3.0, 4.0])
    (row,), arrays = kept_rows(made, "", Place(layer=1), Reading(values))
    assert (row["status"], row["value"], row["n"], row["layer"]) == ("ok", None, 3, 1)
    assert torch.equal(arrays[row["array"]], values.nan_to_num(7)) is False
    assert arrays[row["array"]].isnan().sum() == 1
    (row,), _ = kept_rows(made, "", Place(), Reading(values * math.nan))
    assert row["status"] == "nonfinite"
    rows, arrays = kept_rows(made, "", Place(), Reading(values[:3]))
    assert (len(rows), arrays) == (3, {})


def test_an_array_that_is_not_declared_is_refused():
    reading = Reading(1.0, array=torch.zeros(2, 3))
    with pytest.raises(BadContract, match="does not declare"):
        kept_rows(part("instrument", "heldout_loss"), "", Place(), reading)
    with pytest.raises(BadContract, match="does not declare"):
        kept_rows(part("instrument", "proof_means"), "", Place(), reading)


def test_tables_of_several_parts_keep_their_columns(run_of):
    home = run_of("run")
    measure(home, ["proof_losses", "heldout_loss"])
    table = Run.open(home).table()
    assert set(table["settings"]) == {""}
    assert set(table[table["part"] == "heldout_loss"]["array"]) == {""}
    assert pd.api.types.is_float_dtype(table["value"])

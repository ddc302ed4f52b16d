"""A fit is measured where a part needs it, and its artefact is there whenever that part is measured."""

import pytest
from torch import Tensor

from ontogeny.catalogue import fit, instrument
from ontogeny.measure import measure
from ontogeny.testing import temporary_catalogue
from ontogeny.vocabulary import Fitted


@pytest.fixture(autouse=True)
def parts_of_their_own():
    with temporary_catalogue():

        @fit(source="a test")
        def proof_mean(residual_sample: Tensor):
            """The mean vector.

            Known: equal vectors -> themselves.
            Misleads: no.
            """
            return Fitted({"mean": residual_sample.mean(0)}, {"norm": residual_sample.mean(0).norm()})

        @instrument(unit="norm", source="a test")
        def proof_distance(residual_sample: Tensor, proof_mean):
            """Mean distance to the mean.

            Known: equal vectors -> 0.
            Misleads: no.
            """
            return (residual_sample - proof_mean["mean"]).norm(dim=1).mean()

        yield


def test_a_needed_fit_is_measured_unasked(run_of, rows):
    home = run_of("run")
    assert measure(home, ["proof_distance"]) == 5
    assert set(rows(home)["part"]) == {"proof_distance", "proof_mean"}
    assert set(rows(home)["status"]) == {"ok"}
    assert len(list((home / "fits").iterdir())) == 10
    assert measure(home, ["proof_distance"]) == 0


def test_a_part_that_comes_later_finds_the_artefact_again(run_of, rows):
    home, whole = run_of("run"), run_of("whole")
    measure(home, ["proof_mean"])
    assert measure(home, ["proof_distance"]) == 5
    measure(whole, ["proof_distance"])
    assert rows(home).equals(rows(whole))

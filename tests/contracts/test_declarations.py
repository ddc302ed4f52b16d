"""A wrong part is refused where it is declared, in words that say what would be right."""

import pytest

from ontogeny import catalogue
from ontogeny.catalogue import (
    KINDS,
    comparison,
    detector,
    fit,
    instrument,
    null,
    objective,
    part,
    parts,
    stimulus,
    summary,
    trial,
)
from ontogeny.catalogue.part import MEASURING
from ontogeny.errors import BadContract, DuplicateName, UnknownName
from ontogeny.testing import temporary_catalogue


@pytest.fixture(autouse=True)
def catalogue_of_its_own():
    with temporary_catalogue():
        yield


def declared(decorator, function):
    """Declares, and gives the error that was raised; nothing of it may be left in the catalogue."""
    with pytest.raises((BadContract, UnknownName, DuplicateName)) as caught:
        decorator(function)
    assert not any(made.make is function for kind in KINDS for made in parts(kind).values())
    return caught.value


def proof_number(residual_norms):
    """A number.

    Known: one.
    Misleads: always.
    """


def test_a_name_that_is_taken():
    def induction(residual_norms):
        """Another. Known: one. Misleads: always."""

    error = declared(instrument(unit="x", source="here"), induction)
    assert isinstance(error, DuplicateName)
    assert "ontogeny.instruments.induction" in str(error)
    error = declared(comparison(unit="x", source="here"), induction)
    assert isinstance(error, DuplicateName), "measuring kinds share one space of names"


def test_the_same_part_may_come_twice():
    made = part("instrument", "induction")
    catalogue.register(made)
    assert part("instrument", "induction") is made


def test_an_unknown_need():
    def proof_typo(residual_norm):
        """A number. Known: one. Misleads: always."""

    error = declared(instrument(unit="x", source="here"), proof_typo)
    assert isinstance(error, UnknownName)
    assert "did you mean 'residual_norms'?" in str(error)
    assert "attention_to_successor" in str(error)


def test_needs_that_meet_nowhere():
    def proof_nowhere(weight, token_loss):
        """A number. Known: one. Misleads: always."""

    assert "no site offers all needs" in str(declared(instrument(unit="x", source="here"), proof_nowhere))


def test_a_site_where_a_need_is_not_offered():
    error = declared(instrument(unit="x", source="here", at=("logits",)), proof_number)
    assert "cannot be measured at logits" in str(error)
    assert "residual" in str(error)


def test_an_unknown_axis():
    error = declared(instrument(unit="x", source="here", axes=("heads",)), proof_number)
    assert "did you mean 'head'?" in str(error)


@pytest.mark.parametrize("missing", ["Known:", "Misleads:"])
@pytest.mark.parametrize("kind", sorted(MEASURING))
def test_words_that_numbers_need(kind, missing):
    def proof_words(residual_norms):
        pass

    proof_words.__doc__ = proof_number.__doc__.replace(missing, "")
    declare = {
        "instrument": instrument(unit="x", source="here"),
        "comparison": comparison(unit="x", source="here"),
        "fit": fit(source="here"),
        "trial": trial(unit="x", source="here", passes=1),
        "summary": summary(unit="x", source="here"),
    }[kind]
    if kind == "trial":

        def proof_words(subject):
            pass

        proof_words.__doc__ = proof_number.__doc__.replace(missing, "")
    if kind == "summary":

        def proof_words(sink_mass):
            pass

        proof_words.__doc__ = proof_number.__doc__.replace(missing, "")
    error = declared(declare, proof_words)
    assert isinstance(error, BadContract)
    assert f"no {missing}" in str(error)


@pytest.mark.parametrize("declare", [stimulus, objective, detector, null])
def test_a_docstring_and_a_source_are_needed_by_all(declare):
    def proof_silent(facts):
        pass

    assert "no docstring" in str(declared(declare(source="here"), proof_silent))
    proof_silent.__doc__ = "It says something."
    assert "no source" in str(declared(declare(source=""), proof_silent))


def test_a_detector_that_does_not_keep_its_contract():
    def proof_detector(steps, values, *, draws=3):
        """It says something."""

    assert "steps, values, null" in str(declared(detector(source="here"), proof_detector))
    with pytest.raises(UnknownName, match="did you mean 'peak'"):
        detector(source="here", finds=("peek",))

    def proof_surrogate(steps, values, null, *, draws=3):
        """It says something."""

    error = declared(detector(source="here", surrogate={"draw": 1}), proof_surrogate)
    assert "surrogate= of its own parameters" in str(error)


def test_catch_all_parameters():
    def proof_greedy(*needs):
        """A number. Known: one. Misleads: always."""

    assert "named needs" in str(declared(instrument(unit="x", source="here"), proof_greedy))


def test_a_streamed_part_that_lacks_a_method():
    class proof_stream:
        """A number. Known: one. Misleads: always."""

        def init(self, view): ...
        def update(self, state, view): ...

    error = declared(instrument(unit="x", source="here", at=("residual",)), proof_stream)
    assert "lacks finish" in str(error)


def test_a_trial_that_needs_evidence():
    error = declared(trial(unit="x", source="here", passes=1), proof_number)
    assert "subject, stimulus" in str(error)


def test_an_unknown_reference():
    with pytest.raises(BadContract, match="final, first, previous"):
        comparison(unit="x", source="here", reference="last")

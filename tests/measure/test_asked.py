"""What a caller's words ask for."""

import pytest

from ontogeny.catalogue import fit, instrument, parts, summary
from ontogeny.errors import BadContract, UnknownName
from ontogeny.measure.asked import asked_parts
from ontogeny.testing import temporary_catalogue


@pytest.fixture(autouse=True)
def parts_of_their_own():
    with temporary_catalogue():

        @fit(source="a test", family="concepts")
        def proof_fit(residual_sample):
            """A fit.

            Known: nothing.
            Misleads: no.
            """

        @instrument(unit="x", source="a test", family="concepts")
        def proof_reader(proof_fit, residual_norms, *, scale: float = 1.0, name: str = "a"):
            """A number.

            Known: nothing.
            Misleads: no.
            """

        @summary(unit="x", source="a test", family="forecast")
        def proof_summary(proof_reader, *, threshold: float = 0.5):
            """A summary.

            Known: nothing.
            Misleads: no.
            """

        yield


def names(*words: str) -> list[str]:
    return [asked.part.name for asked in asked_parts(words)]


def test_by_default_everything_but_trials_and_unneeded_fits():
    found = set(names())
    assert {"cka", "induction", "proof_reader", "proof_summary", "proof_fit"} <= found
    assert not found & set(parts("trial"))
    assert not {name for name in found if name in parts("instrument") and parts("instrument")[name].online}


def test_families_and_patterns():
    assert names("concepts.*") == ["proof_fit", "proof_reader"]
    assert names("proof_*") == ["proof_fit", "proof_reader", "proof_summary"]
    assert names("concepts.*_fit") == ["proof_fit"]
    assert {"induction", "proof_summary", *parts("trial")} <= set(names("*"))


def test_a_summary_brings_what_it_reads_and_a_part_its_fits():
    assert sorted(names("proof_summary")) == ["proof_fit", "proof_reader", "proof_summary"]


def test_each_choice_of_parameters_once():
    found = asked_parts(["proof_reader(scale=2)", "proof_reader(name='a', scale=2)", "proof_reader"])
    readers = [asked for asked in found if asked.part.name == "proof_reader"]
    assert [asked.part.settings(**asked.parameters) for asked in readers] == ["scale=2", ""]


def test_what_nothing_answers_to_is_refused_with_the_list():
    with pytest.raises(UnknownName, match="did you mean 'proof_reader'"):
        asked_parts(["proof_raeder"])
    with pytest.raises(UnknownName, match="did you mean 'heads'"):
        asked_parts(["head.*"])
    with pytest.raises(UnknownName, match="did you mean 'scale'"):
        asked_parts(["proof_reader(scales=1)"])
    with pytest.raises(BadContract, match="cannot be read"):
        asked_parts(["proof_reader(1)"])

"""What holds for every part of the catalogue, whatever its name."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import ontogeny
from ontogeny import testing
from ontogeny.catalogue import (
    KINDS,
    MEASURING,
    measuring_part,
    part,
    parts,
)
from ontogeny.catalogue.part import load
from ontogeny.errors import BadContract, UnknownName
from ontogeny.testing import temporary_catalogue
from ontogeny.vocabulary import Status

SOURCES, TESTS = Path(ontogeny.__file__).parent, Path(__file__).parents[1]
#: A kind of part and the folder its files lie in.
FOLDERS = {
    "instrument": "instruments",
    "comparison": "instruments",
    "summary": "instruments",
    "trial": "instruments",
    "fit": "instruments",
    "stimulus": "stimuli",
    "objective": "objectives",
    "intervention": "interventions",
    "detector": "detectors",
    "null": "nulls",
    "view": "views",
}


def ours(*kinds: str) -> list:
    """Parts of these kinds that this distribution brings, as parameters of a test."""
    found = [made for kind in kinds for made in parts(kind).values()]
    mine = [made for made in found if made.make.__module__.startswith("ontogeny.")]
    return [pytest.param(made, id=f"{made.kind} {made.name}") for made in mine]


def names_in(folder: Path, pattern: str) -> set[str]:
    return {path.stem for path in folder.glob(pattern) if not path.stem.startswith("_")}


@pytest.mark.parametrize("made", ours(*KINDS))
def test_it_is_declared_in_full(made):
    testing.check_declaration(made)


@pytest.mark.parametrize("made", ours("instrument", "comparison", "trial", "fit"))
def test_it_measures_whatever_the_cut_and_survives_broken_weights(made):
    testing.check_instrument(made)


@pytest.mark.parametrize("made", ours("summary"))
def test_it_is_a_summary(made):
    testing.check_summary(made)


@pytest.mark.parametrize("made", ours("stimulus"))
def test_it_is_a_stimulus(made):
    testing.check_stimulus(made)


@pytest.mark.parametrize("made", ours("detector"))
def test_it_detects(made):
    testing.check_detector(made)


@pytest.mark.parametrize("made", ours("detector"))
def test_the_null_it_names_is_of_a_series(made):
    assert part("null", made.null).options["of"] == "series"


@pytest.mark.parametrize("made", ours(*sorted(MEASURING)))
def test_what_it_names_exists(made):
    assert made.family, f"{made.name} is of no family"
    for name in made.stimuli:
        part("stimulus", name)
    for name in made.options.get("of", ()):
        measuring_part(name)
    if made.null is not None:
        assert part("null", made.null).options["of"] == "evidence"


@pytest.mark.parametrize("folder", sorted(set(FOLDERS.values())))
def test_one_part_one_file_one_test_one_name(folder):
    kinds = [kind for kind, home in FOLDERS.items() if home == folder]
    declared = {made.name for kind in kinds for made in (p.values[0] for p in ours(kind))}
    if not declared:
        return
    module = importlib.import_module(f"ontogeny.{folder}")
    helpers = {path for path in names_in(SOURCES / folder, "*.py") if path not in declared}
    for name in helpers:
        assert not any(
            made.make.__module__ == f"ontogeny.{folder}.{name}"
            for kind in KINDS
            for made in parts(kind).values()
        )
    assert declared <= names_in(SOURCES / folder, "*.py")
    assert declared <= {name.removeprefix("test_") for name in names_in(TESTS / folder, "test_*.py")}
    assert declared <= set(module.__all__)
    for name in declared:
        found = next(parts(kind)[name] for kind in kinds if name in parts(kind))
        assert getattr(module, name) is found.make
        assert found.make.__name__ == name


@pytest.mark.parametrize("folder", ["instruments", "stimuli", "nulls", "detectors"])
def test_a_file_in_a_folder_of_measuring_parts_is_a_part(folder):
    kinds = [kind for kind, home in FOLDERS.items() if home == folder]
    declared = {p.values[0].name for kind in kinds for p in ours(kind)}
    assert names_in(SOURCES / folder, "*.py") == declared
    tested = {name.removeprefix("test_") for name in names_in(TESTS / folder, "test_*.py")}
    assert tested == declared


def test_an_unknown_name_gets_the_nearest_and_the_list():
    with pytest.raises(UnknownName) as caught:
        part("instrument", "inductoin")
    text = str(caught.value)
    assert "'inductoin'" in text
    assert "did you mean 'induction'?" in text
    assert all(name in text for name in parts("instrument"))
    with pytest.raises(UnknownName, match="did you mean 'instrument'"):
        parts("instruments")
    with pytest.raises(UnknownName, match="did you mean 'cka'"):
        measuring_part("ckaa")
    with pytest.raises(UnknownName, match="did you mean 'seed'"):
        part("stimulus", "heldout").bind(sed=1)


def test_parameters_version_and_nothing_else_make_the_key():
    made = part("stimulus", "repeated_tokens")
    assert made.parameter_hash() == made.parameter_hash(seed=0)
    assert made.parameter_hash() != made.parameter_hash(seed=1)
    assert replace(made, version=2).parameter_hash() != made.parameter_hash()
    assert replace(made, source="elsewhere").parameter_hash() == made.parameter_hash()


PLUGIN = '''
from ontogeny.catalogue import instrument

@instrument(unit="x", source="outside")
def outside_norm(residual_norms):
    """An outsider's number.

    Known: unit vectors -> 1.
    Misleads: never.
    """
    return residual_norms.total / residual_norms.n
'''


@pytest.fixture
def distribution(tmp_path, monkeypatch):
    """Puts a fake installed distribution with one entry point on the path, for as long as the test runs."""

    def install(source: str) -> None:
        (tmp_path / "outside_norm.py").write_text(source)
        facts = tmp_path / "outsider-1.0.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: outsider\nVersion: 1.0\n")
        (facts / "entry_points.txt").write_text("[ontogeny.parts]\nmine = outside_norm\n")
        monkeypatch.syspath_prepend(tmp_path)
        importlib.invalidate_caches()
        load.cache_clear()

    with temporary_catalogue():
        yield install
    sys.modules.pop("outside_norm", None)
    monkeypatch.undo()
    load.cache_clear()


def test_an_outsiders_part_is_found_and_measured(distribution):
    distribution(PLUGIN)
    made = part("instrument", "outside_norm")
    testing.check_declaration(made)
    testing.check_instrument(made)
    rows = testing.measured_on(testing.tiny_subject(), made).rows
    assert {row["status"] for row in rows} == {Status.OK}
    assert [row["layer"] for row in rows] == [0, 1]
    assert torch.tensor([row["value"] for row in rows]).isfinite().all()


def test_an_outsiders_broken_part_is_named(distribution):
    distribution("import no_such_module\n")
    with pytest.raises(ModuleNotFoundError) as caught:
        parts("instrument")
    assert any("of outsider" in note for note in caught.value.__notes__)


def test_an_outsiders_part_must_keep_the_contract(distribution):
    distribution(PLUGIN.replace("Misleads", "Careful"))
    with pytest.raises(BadContract, match="Misleads"):
        parts("instrument")

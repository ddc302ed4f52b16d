"""Modules of which nothing is known."""

from torch import nn

from ontogeny.anatomy import TAPPABLE, read_anatomy
from ontogeny.vocabulary import Place


def test_only_modules_and_matrices_are_there_and_every_other_site_says_why():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Linear(4, 2))
    found = read_anatomy(model)
    assert [site for site in TAPPABLE if found.shows(site)] == ["module"]
    assert all("Sequential" in found.notes[site] for site in TAPPABLE if site != "module")
    assert set(found.matrices(model)) == {Place(matrix="1")}

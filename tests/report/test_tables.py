from ontogeny.catalogue.part import _PARTS, Part
from ontogeny.report.tables import part_notes


def test_notes_come_from_docstrings_and_unknown_parts_have_none(monkeypatch):
    def brightness(residual_gram):
        """How bright it is.

        Known: dark -> 0.
        Misleads: night
        looks like blindness.
        """

    made = Part("instrument", "brightness", brightness, ("residual_gram",), {}, "ours", unit="lux")
    monkeypatch.setitem(_PARTS["instrument"], "brightness", made)
    notes = part_notes(["brightness", "never_installed"])
    assert list(notes) == ["brightness"]
    note = notes["brightness"]
    assert (note.unit, note.meaning, note.misleads) == (
        "lux",
        "How bright it is.",
        "night looks like blindness.",
    )

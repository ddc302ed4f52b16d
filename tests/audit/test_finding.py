"""Findings as records."""

from ontogeny.audit.finding import KINDS, Finding, Severity, listed


def test_a_finding_knows_its_severity_and_meaning():
    record = Finding("nonfinite", "s", "seen", (1,), ("w",), numbers={"values": 2}).record()
    assert record["severity"] == Severity.ERROR
    assert record["meaning"] == KINDS["nonfinite"].meaning
    assert (record["steps"], record["tensors"], record["tasks"]) == ([1], ["w"], [])


def test_long_lists_are_cut():
    assert listed([1, 2]) == "1, 2"
    assert listed(range(9)) == "0, 1, 2, 3 and 5 more"

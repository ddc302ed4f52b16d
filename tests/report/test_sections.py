import pandas as pd
import pytest

from ontogeny.audit import Audit, Finding
from ontogeny.report.sections import audited, formed, heads, last_finite, not_claimed, run_sections
from ontogeny.report.tables import PartNote, RunTables


@pytest.fixture(scope="module")
def run(made_up):
    notes = {"induction_attention": PartNote("share", "Looks back.", "a positional habit looks the same.")}
    return RunTables(
        made_up.identity(),
        made_up.telemetry(),
        made_up.rows(),
        made_up.transitions(),
        made_up.samples(),
        notes,
    )


def test_every_section_has_something_to_say(run):
    assert [anchor for anchor, _, _ in run_sections(run, "r")] == [
        f"r-{key}"
        for key in (
            "about",
            "formed",
            "not-claimed",
            "curves",
            "heads",
            "layers",
            "matrices",
            "samples",
            "misleads",
            "provenance",
        )
    ]


def test_a_run_with_nothing_but_a_name_is_still_reported():
    found = {anchor: body for anchor, _, body in run_sections(RunTables({"name": "bare"}), "r")}
    assert list(found) == ["r-about", "r-formed"]
    assert "Not graded" in found["r-about"]
    assert "No detector was run" in found["r-formed"]


def test_what_an_audit_found_comes_before_the_curves():
    found = Audit((Finding("same-file", "<them>", "steps 1, 2 of <them>", (1, 2)),), ("them: 3 checkpoints",))
    keys = [key for key, _, _ in run_sections(RunTables({"name": "bare"}, audit=found), "r")]
    assert keys == ["r-about", "r-audit", "r-formed"]
    written = audited(RunTables({}, audit=found))
    assert "<strong>error: same-file.</strong> <bdi>steps 1, 2 of &lt;them&gt;</bdi>" in written
    assert "Looked at them: 3 checkpoints." in written
    assert "Nothing was found." in audited(RunTables({}, audit=Audit((), ("them",))))


def test_one_sentence_a_part_and_stimulus(run):
    """Of two claimed heads of one part the larger change is told; the table has both."""
    written = formed(run)
    assert written.count("<li>") == 2
    assert (
        "At step 645 (95 % interval 560 – 730), <strong><bdi>induction attention in layer 1 head 2" in written
    )
    assert "layer 1 head 3" in written.split("<table")[1]
    assert "1 further claims" in written


def test_a_handful_is_told_the_clearest_in_steps_order(run):
    claim = run.transitions.head(1)
    many = pd.concat(
        [claim.assign(part=f"part_{n}", size=0.1 * n, step=1000.0 - n) for n in range(1, 41)],
        ignore_index=True,
    )
    written = formed(RunTables({}, transitions=many))
    told = [item.split("<bdi>part ")[1].split(" ")[0] for item in written.split("<li>")[1:]]
    assert told == ["40", "39", "38", "37", "36"]
    assert "35 further claims" in written


def test_what_p_costs_over_all_parts_is_told(run):
    claim = run.transitions.head(1).assign(q=0.025)
    written = formed(RunTables({}, transitions=claim))
    assert "q\u00a0=\u00a00.025 over all parts" in written
    assert "over all parts" not in formed(run)


def test_no_claim_is_said_with_how_much_was_looked_at(run):
    none = run.transitions[run.transitions["verdict"] != "transition"]
    assert "Nothing is claimed: of 27 series" in formed(RunTables({}, transitions=none))


def test_verdicts_are_explained(run):
    written = not_claimed(run)
    assert "was still changing when the run ended" in written
    assert "<dt>transition</dt>" not in written


def test_every_unclaimed_series_can_be_unfolded(run):
    whole = not_claimed(run).split("<details>")[1]
    assert whole.count("<tr>") == 1 + 27


def test_grids_are_of_parts_with_a_claim(run):
    written = heads(run)
    assert "induction attention, layer by head" in written
    assert "first token attention, layer by head" not in written


def test_last_finite_skips_nan(run):
    telemetry = pd.DataFrame({"step": [2, 1, 3], "loss": [1.5, 9.0, float("nan")]})
    assert last_finite(RunTables({}, telemetry=telemetry), "loss") == "1.500"
    assert last_finite(RunTables({}), "loss") == "—"

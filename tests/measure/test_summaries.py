"""Summaries: made from everything that was measured, again when and only when that has changed."""

import shutil

import numpy as np
import pytest

from ontogeny.catalogue import instrument, part, summary
from ontogeny.errors import BadContract, UnknownName
from ontogeny.measure import measure
from ontogeny.store.checkpoint import open_checkpoint, write_checkpoint
from ontogeny.store.run import Run
from ontogeny.testing import check_summary, course_of, rows_said, temporary_catalogue
from ontogeny.vocabulary import Reading, Status, Summarised, undefined

CALLS: list[str] = []


def proof_share(sink_mass, *, epsilon: float = 0.1):
    """Share of heads above epsilon, step by step.

    Known: all above -> 1.
    Misleads: no.
    """
    CALLS.append("proof_share")
    masses = sink_mass.labelled()
    return [
        Summarised(Reading(float((one > epsilon).mean()), n=one.size), step=int(step))
        for step, one in zip(masses["step"].values, masses.values, strict=True)
    ]


def proof_fastest(proof_losses, stimulus):
    """By how much each token's loss fell.

    Known: no change -> 0.
    Misleads: no.
    """
    CALLS.append("proof_fastest")
    losses = proof_losses.arrays().stacked()
    fall = losses[0] - losses[-1]
    return {"": Reading(fall), "mean": Reading(fall.mean(), n=stimulus.shape[0])}


def proof_fall(telemetry):
    """By how much the loss fell.

    Known: no change -> 0.
    Misleads: no.
    """
    CALLS.append("proof_fall")
    loss = telemetry["loss"].dropna()
    if len(loss) < 2:
        return undefined(Status.TOO_SHORT, "fewer than two losses", n=len(loss))
    return Reading(float(loss.iloc[0] - loss.iloc[-1]), n=len(loss))


@pytest.fixture(autouse=True)
def parts_of_their_own():
    CALLS.clear()
    with temporary_catalogue():

        @instrument(unit="nats", source="a test", array=("item", "position"))
        def proof_losses(token_loss):
            """The loss of every token.

            Known: nothing.
            Misleads: no.
            """
            return Reading(token_loss.loss.double().mean(), array=token_loss.loss)

        summary(unit="share", source="a test")(proof_share)
        summary(unit="nats", source="a test", axes=("item", "position"), stimuli=("heldout",))(proof_fastest)
        summary(unit="nats", source="a test", telemetry=("loss",))(proof_fall)
        yield


SUMMARIES = ["proof_share", "proof_fastest", "proof_fall"]


def test_it_reads_rows_arrays_and_telemetry(run_of):
    home = run_of("run")
    assert measure(home, SUMMARIES) == 5
    run = Run.open(home)
    share = run.rows("proof_share", stimulus="heldout")
    masses = run.rows("sink_mass", stimulus="heldout")
    assert share["step"].values.tolist() == [0, 1, 2, 4, 6]
    assert share.values == pytest.approx((masses > 0.1).mean(("layer", "head")).values)
    assert set(run.table("proof_share")["stimulus_name"]) == {"heldout", "repeated_tokens"}
    losses = run.arrays("proof_losses").stacked()
    fall = run.rows("proof_fastest")
    assert fall["step"].values.tolist() == [6]
    fall = fall.transpose("step", "item", "position")
    assert fall.values[0] == pytest.approx((losses[0] - losses[-1]).numpy())
    loss = run.telemetry("loss")["loss"].dropna()
    assert float(run.rows("proof_fall").values[0]) == pytest.approx(loss.iloc[0] - loss.iloc[-1])
    assert set(run.table()["status"]) == {Status.OK}


def test_it_is_made_again_when_and_only_when_its_inputs_change(run_of):
    home = run_of("run")
    measure(home, SUMMARIES)
    made = list(CALLS)
    assert sorted(made) == ["proof_fall", "proof_fastest", "proof_share", "proof_share"]
    files = sorted((home / "rows").iterdir())
    measure(home, SUMMARIES)
    assert made == CALLS
    assert sorted((home / "rows").iterdir()) == files
    measure(home, [*SUMMARIES, "induction"])
    assert made == CALLS, "another part's rows are none of its inputs"
    repeat_last(home, 8)
    assert measure(home, SUMMARIES) == 1
    assert sorted(CALLS[len(made) :]) == ["proof_fastest", "proof_share", "proof_share"]
    run = Run.open(home)
    assert run.rows("proof_share")["step"].values.tolist() == [0, 1, 2, 4, 6, 8]
    assert run.rows("proof_fastest")["step"].values.tolist() == [6, 8]


def repeat_last(home, step: int) -> None:
    found = open_checkpoint(home / "checkpoints" / "000006")
    write_checkpoint(
        home / "checkpoints" / f"{step:06d}",
        tensors={"model": found.tensors("model")},
        documents={"config": found.document("config")},
        step=step,
        metadata={},
    )


def test_what_its_inputs_lack_is_its_status(run_of, tmp_path):
    home = run_of("run")
    for step in (0, 1, 2):
        shutil.copytree(home / "checkpoints" / f"00000{step}", tmp_path / "bare" / f"step{step}")
    measure(tmp_path / "bare", SUMMARIES)
    table = Run.table(_folder(tmp_path / "bare" / "ontogeny"))
    said = table[table["part"].isin(SUMMARIES)].groupby("part")["status"].agg(set)
    assert said["proof_fall"] == {Status.NOT_OBSERVABLE}
    assert said["proof_fastest"] == {Status.NO_TARGET}
    assert said["proof_share"] == {Status.NO_TARGET, Status.OK}


def _folder(home):
    """Rows of a foreign series read as those of a run."""
    return type("Folder", (), {"path": home})()


def test_what_raises_is_a_status_and_the_others_go_on(run_of):
    @summary(unit="x", source="a test")
    def proof_broken(sink_mass):
        """Raises.

        Known: no.
        Misleads: no.
        """
        raise ZeroDivisionError("by design")

    home = run_of("run")
    measure(home, ["proof_broken", "proof_share"])
    table = Run.open(home).table()
    broken = table[table["part"] == "proof_broken"]
    assert set(broken["status"]) == {Status.FAILED}
    assert set(broken["reason"]) == {"ZeroDivisionError: by design"}
    assert set(table[table["part"] == "proof_share"]["status"]) == {Status.OK}


def test_parameters_are_its_key(run_of):
    home = run_of("run")
    measure(home, ["proof_share", "proof_share(epsilon=0.9)"])
    run = Run.open(home)
    high = run.rows("proof_share", settings="epsilon=0.9")
    assert (high <= run.rows("proof_share")).all()
    assert set(run.table("proof_share")["settings"]) == {"", "epsilon=0.9"}


@pytest.mark.parametrize("name", SUMMARIES)
def test_it_keeps_the_contract(name):
    check_summary(part("summary", name))


def test_a_course_made_by_hand():
    made = course_of("sink_mass", np.array([[[0.0, 0.2]], [[0.3, np.nan]]]), [0, 5], ("layer", "head"))
    rows = rows_said(part("summary", "proof_share"), {"sink_mass": made})
    assert [(row["step"], row["value"], row["n"]) for row in rows] == [(0, 0.5, 2), (5, 0.5, 2)]


def test_a_summary_is_refused_where_it_does_not_say_what_it_reads():
    def proof_wrong(telemetry):
        """Wrong.

        Known: no.
        Misleads: no.
        """

    with pytest.raises(BadContract, match="which metrics"):
        summary(unit="x", source="a test")(proof_wrong)

    def proof_nothing(facts):
        """Wrong.

        Known: no.
        Misleads: no.
        """

    with pytest.raises(BadContract, match="no part and no telemetry"):
        summary(unit="x", source="a test")(proof_nothing)


def test_a_part_that_it_reads_must_exist(run_of):
    @summary(unit="x", source="a test")
    def proof_lost(sink_mas):
        """Wrong.

        Known: no.
        Misleads: no.
        """

    with pytest.raises(UnknownName, match="did you mean 'sink_mass'"):
        measure(run_of("run"), ["proof_lost"])

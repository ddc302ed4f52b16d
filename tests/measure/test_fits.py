"""A fit is measured where a part needs it, and its artefact is there whenever that part is measured."""

import pytest
from torch import Tensor

from ontogeny.catalogue import fit, instrument
from ontogeny.measure import measure
from ontogeny.store.fits import fit_keys
from ontogeny.store.run import Run
from ontogeny.testing import temporary_catalogue
from ontogeny.vocabulary import Fitted, Status, undefined


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
    assert len(list((home / "fits").iterdir())) == 1, "one pack"
    assert len(fit_keys(home)) == 10
    assert measure(home, ["proof_distance"]) == 0


def test_a_fit_that_comes_to_nothing_hands_on_why(run_of, rows):
    @fit(source="a test")
    def proof_nothing(residual_sample: Tensor):
        """Nothing.

        Known: no.
        Misleads: no.
        """
        return undefined(Status.TOO_SHORT, "as it was made to")

    @instrument(unit="norm", source="a test")
    def proof_waiting(residual_sample: Tensor, proof_nothing):
        """Nothing, again.

        Known: no.
        Misleads: no.
        """
        return residual_sample.norm()

    home = run_of("run")
    measure(home, ["proof_waiting"])
    frame = rows(home, part="proof_waiting")
    assert set(frame["status"]) == {"too-short"}
    assert set(frame["reason"]) == {"as it was made to"}


def test_a_part_that_comes_later_finds_the_artefact_again(run_of, rows):
    home, whole = run_of("run"), run_of("whole")
    measure(home, ["proof_mean"])
    assert measure(home, ["proof_distance"]) == 5
    measure(whole, ["proof_distance"])
    assert rows(home).equals(rows(whole))


def test_rows_name_the_artefact_they_rest_on(run_of, rows):
    home = run_of("run")
    measure(home, ["proof_distance", "stable_rank"])
    frame = rows(home, part="proof_distance")
    assert set(frame["fit"]) == fit_keys(home)
    sample = Run.open(home).fit(frame["fit"].iloc[0])
    assert list(sample) == ["mean"]
    assert sample["mean"].shape == (16,)
    assert not Run.open(home).verify()
    for row in frame.to_dict("records"):
        assert row["fit"].startswith(f"{row['step']:06d}-proof_mean-")
        assert row["fit"].endswith(f"layer-{row['layer']}")
    assert set(rows(home, part="stable_rank")["fit"]) == {""}
    assert set(rows(home, part="proof_mean")["fit"]) == {""}


def test_a_fit_on_weights_serves_a_pass_and_both_know_the_data(run_of, rows):
    @fit(source="a test", at=("readout",))
    def proof_direction(unembedding_weight: Tensor, facts):
        """The first row of the unembedding.

        Known: nothing.
        Misleads: no.
        """
        assert facts.vocabulary == len(unembedding_weight)
        return Fitted({"direction": unembedding_weight[0]}, {"norm": unembedding_weight[0].norm()})

    @instrument(unit="share", source="a test", at=("logits",))
    def proof_loading(token_loss, proof_direction, stimulus):
        """Whether all that was asked for came.

        Known: 1.
        Misleads: no.
        """
        return float(len(token_loss.loss) == stimulus.shape[0]) * float(proof_direction["direction"].ndim)

    home = run_of("run")
    assert measure(home, ["proof_loading"]) == 5
    frame = rows(home, part="proof_loading")
    assert frame["value"].tolist() == [1.0] * 5
    assert all("proof_direction-" in name for name in frame["fit"])
    for path in (home / "rows").iterdir():
        path.unlink()
    measure(home, ["proof_direction"])
    assert measure(home, ["proof_loading"]) == 5, "the fit is made again where only the part is missing"
    assert rows(home, part="proof_loading")["value"].tolist() == [1.0] * 5


def test_streamed_parts_with_parameters_do_not_share_a_state(run_of, rows):
    @instrument(unit="share", source="a test", at=("residual",))
    class proof_above:
        """Share of entries above a threshold.

        Known: all above -> 1.
        Misleads: no.
        """

        def __init__(self, *, threshold: float = 0.0):
            self.threshold = threshold

        def init(self, view):
            return (0, 0)

        def update(self, state, view):
            above = int((view.tensor > self.threshold).sum())
            return (state[0] + above, state[1] + view.tensor.numel())

        def finish(self, state):
            return state[0] / state[1]

    home = run_of("run")
    measure(home, ["proof_above", "proof_above(threshold=1e9)"])
    frame = rows(home, part="proof_above")
    assert frame[frame["settings"] == ""]["value"].between(0.2, 0.8).all()
    assert (frame[frame["settings"] == "threshold=1000000000.0"]["value"] == 0).all()

"""Every contract is proved by one throwaway part that needs all of it."""

import copy
from contextlib import contextmanager

import jaxtyping
import pytest
import torch
from torch import Tensor

from ontogeny.catalogue import (
    Intervention,
    comparison,
    fit,
    instrument,
    intervention,
    objective,
    part,
    trial,
)
from ontogeny.measure.checkpoint import Unit, gather, measure_checkpoint
from ontogeny.models.decoder import attend_eagerly
from ontogeny.numerics.similarity import debiased_cka
from ontogeny.record.recipe import Recipe
from ontogeny.record.training import Training
from ontogeny.subject import Subject
from ontogeny.testing import (
    TinyFacts,
    check_intervention,
    measured_on,
    temporary_catalogue,
    tiny_subject,
    tiny_units,
)
from ontogeny.vocabulary import Draw, Fitted, Losses, Pair, Place, Streams, TrainingState, Window


@pytest.fixture(autouse=True)
def throwaway_parts():
    with temporary_catalogue():
        yield


def small_recipe(objective_table: dict) -> Recipe:
    return Recipe.from_document(
        {
            "model": {"width": 16, "layers": 2, "heads": 2, "mlp": "none", "tied": False},
            "objective": objective_table,
            "optimizer": {"name": "adamw", "lr": 0.01},
            "training": {"steps": 40},
        }
    )


def test_an_objective_may_sample_the_policy_it_trains():
    @objective(source="REINFORCE, Williams 1992")
    class proof_policy:
        """Write two tokens; the reward is how many of them are token 3."""

        state_free = False
        vocabulary, context = 6, 4

        def __init__(self, *, rows: int = 64):
            self.rows = rows

        def draw(self, step: int, rng: torch.Generator) -> Draw:
            return Draw(torch.randint(3, (self.rows, 1), generator=rng))

        def batch(self, draw: Draw, state: TrainingState, rng: torch.Generator):
            tokens = draw.items
            with torch.no_grad():
                for _ in range(2):
                    chances = state["model"](tokens)[:, -1].softmax(-1)
                    tokens = torch.cat([tokens, torch.multinomial(chances, 1, generator=rng)], 1)
            reward = (tokens[:, 1:] == 3).float()
            return {"tokens": tokens, "advantage": reward - reward.mean()}

        def loss(self, model, batch) -> Losses:
            logp = model(batch["tokens"][:, :-1]).log_softmax(-1)
            taken = logp.gather(-1, batch["tokens"][:, 1:, None])[..., 0]
            return Losses(-taken * batch["advantage"], torch.ones_like(taken))

        def facts(self):
            return TinyFacts()

    def reward_and_digest(steps: int):
        training = Training(small_recipe({"name": "proof_policy"}), part("objective", "proof_policy").make())
        for _ in range(steps):
            training.step()
            training.state["counters"].step += 1
        draw = training.objective.draw(999, Streams(0).generator("data", 999))
        batch = training.objective.batch(draw, training.state, Streams(0).generator("sampling", 999))
        weights = next(training.model.parameters()).detach().clone()
        return (batch["tokens"][:, 1:] == 3).float().mean().item(), weights

    before, _ = reward_and_digest(0)
    after, weights = reward_and_digest(40)
    _, again = reward_and_digest(40)
    assert before < 0.4
    assert after > 0.7
    assert torch.equal(weights, again), "sampling inside batch must not cost exactness"


def test_a_comparison_sees_two_checkpoints():
    @comparison(unit="similarity", source="Kornblith et al. 1905.00414")
    def proof_cka(residual_sample: Pair):
        """Similarity to the reference. Known: itself -> 1. Misleads: few directions.

        Known: itself -> 1.
        Misleads: few directions decide.
        """
        return debiased_cka(residual_sample.here, residual_sample.there)

    made = part("comparison", "proof_cka")
    same = measured_on(tiny_subject(), made).rows
    assert [row["layer"] for row in same] == [0, 1]
    assert all(row["value"] == pytest.approx(1, abs=1e-9) for row in same)
    other = Subject(copy.deepcopy(tiny_subject().model))
    for parameter in other.model.parameters():
        parameter.data += 0.5 * torch.randn(parameter.shape, generator=Streams(9).generator("noise"))
    assert all(row["value"] < 0.99 for row in measured_on(other, made).rows)


def test_a_trial_runs_its_subject_with_edits():
    @trial(unit="nats", source="Zhang & Nanda 2309.16042", passes=3)
    def proof_patching(subject, stimulus, *, layer: int = 0):
        """How far patching the whole residual stream of other sequences moves the output to theirs.

        Known: patching everything after a block -> 0 left to go.
        Misleads: it is no circuit.
        """
        clean, other = stimulus.tokens[:8], stimulus.tokens[8:16]
        kept = {}
        target = subject.run(other, taps={"residual": lambda place, x: kept.update({place: x.clone()})})
        swap = lambda place, x: kept[place] if place["layer"] == layer else None
        patched = subject.run(clean, taps={"residual": swap})
        plain = subject.run(clean)
        return {"left": (patched - target).abs().max(), "moved": (patched - plain).abs().max()}

    subject = tiny_subject()
    before = [p.clone() for p in subject.model.parameters()]
    rows = {row["component"]: row for row in measured_on(subject, part("trial", "proof_patching")).rows}
    assert rows["left"]["value"] == 0
    assert rows["moved"]["value"] > 0.01
    assert all(torch.equal(a, b) for a, b in zip(before, subject.model.parameters(), strict=True))
    assert not any(module._forward_hooks for module in subject.model.modules())


def test_a_fit_leaves_an_artefact_that_serves_as_evidence():
    @fit(source="a tiny dictionary")
    def proof_dictionary(residual_sample: Tensor, *, size: int = 4, rng: torch.Generator | None = None):
        """Principal directions after a seeded random rotation.

        Known: size = width -> error 0.
        Misleads: directions are no features.
        """
        centred = residual_sample - residual_sample.mean(0)
        noise = torch.randn(centred.shape, generator=rng) * 1e-9
        directions = torch.linalg.svd(centred + noise, full_matrices=False).Vh[:size]
        left = centred - centred @ directions.T @ directions
        return Fitted({"directions": directions}, {"error": left.square().sum() / centred.square().sum()})

    @instrument(unit="share", source="the same dictionary")
    def proof_reconstruction(residual_sample: Tensor, proof_dictionary):
        """Share of variance the dictionary leaves over.

        Known: size = width -> 0.
        Misleads: as the dictionary does.
        """
        centred = residual_sample - residual_sample.mean(0)
        directions = proof_dictionary["directions"]
        return (centred - centred @ directions.T @ directions).square().sum() / centred.square().sum()

    units = [
        *tiny_units(part("fit", "proof_dictionary")),
        *tiny_units(part("instrument", "proof_reconstruction")),
    ]
    measured = measure_checkpoint(tiny_subject(), units, lambda compared: gather(tiny_subject(), compared))
    values = {(row["part"], row["layer"]): row["value"] for row in measured.rows}
    assert len(measured.artefacts) == 2
    for layer in (0, 1):
        assert 0 < values["proof_dictionary", layer] < 1
        assert values["proof_reconstruction", layer] == pytest.approx(values["proof_dictionary", layer])
    again = measure_checkpoint(tiny_subject(), units, lambda compared: gather(tiny_subject(), compared))
    assert [row["value"] for row in again.rows] == [row["value"] for row in measured.rows]


@intervention(source="Singh et al. 2404.07129")
class proof_clamp(Intervention):
    """Hold the residual stream after block 0 at what it was on the window's first step."""

    extent = frozenset({"forward"})

    def __init__(self, *, start: int = 2, end: int = 5, identity: bool = False):
        self.window, self.identity = Window(start, end), identity
        self.held: Tensor | None = None
        self.writes = 0

    @contextmanager
    def on_forward(self, state, step):
        with Subject(state["model"]).watching({"residual": self._clamp}):
            yield

    def _clamp(self, place: Place, residual: Tensor) -> Tensor | None:
        if place["layer"] != 0:
            return None
        self.writes += 1
        if self.held is None:
            self.held = residual.detach().clone()
        return residual if self.identity else residual + (self.held - residual).detach()

    def sham(self):
        twin = copy.deepcopy(self)
        twin.identity = True
        return twin

    def state_dict(self):
        return {"held": self.held}

    def load_state_dict(self, state):
        self.held = state["held"]


def test_an_intervention_has_a_window_a_state_and_a_sham():
    recipe = small_recipe(
        {"name": "copied_segments", "vocabulary": 16, "context": 32, "shortest": 4, "longest": 8}
    )

    def make(interventions: list[Intervention]) -> Training:
        return Training(
            recipe, part("objective", "copied_segments").make(**recipe.objective.parameters), interventions
        )

    check_intervention(make, proof_clamp())
    real, sham = proof_clamp(), proof_clamp().sham()
    for made in (real, sham):
        training = make([made])
        for _ in range(6):
            training.step()
            training.state["counters"].step += 1
    assert real.writes == sham.writes == 3
    assert real.state_dict()["held"] is not None


def test_a_streamed_instrument_reduces_batch_by_batch():
    @instrument(unit="norm", source="a running maximum", at=("residual",))
    class proof_largest_norm:
        """The longest vector of a layer.

        Known: unit vectors -> 1.
        Misleads: one vector decides.
        """

        def init(self, view):
            return torch.zeros(())

        def update(self, state, view):
            return torch.maximum(state, view.norms.max())

        def finish(self, state):
            return state

    made = part("instrument", "proof_largest_norm")
    cuts = [[row["value"] for row in measured_on(tiny_subject(), made, batch).rows] for batch in (1, 5, 24)]
    assert cuts[0] == pytest.approx(cuts[1], rel=1e-5)
    assert cuts[0] == pytest.approx(cuts[2], rel=1e-5)
    assert all(value > 0 for value in cuts[0])


def test_shapes_are_checked_while_testing():
    with pytest.raises(jaxtyping.TypeCheckError):
        attend_eagerly(torch.zeros(2, 2, 3), torch.zeros(2, 2, 3, 4), torch.zeros(2, 2, 3, 4))


def test_units_without_needs_of_a_pass_run_none():
    assert [
        unit.stimulus for unit in tiny_units(part("instrument", "stable_rank")) if unit.at == "matrix"
    ] == [None]
    assert isinstance(Unit(part("instrument", "stable_rank"), "matrix", None).identity, dict)

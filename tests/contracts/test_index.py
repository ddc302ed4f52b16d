"""Every name of the index of definitions is in the catalogue once, under its kind, and reads something.

The index is `instruments.md` of the design, sections 2 to 5 and 8 and the telemetry that needs no further
pass. What is not there yet is listed in MISSING, which must shrink to nothing: a part that has landed and is
still listed fails, and so does one that is listed nowhere.
"""

import pytest

from ontogeny.catalogue import FAMILIES, MEASURING, Part, parts
from ontogeny.measure import measure
from ontogeny.record.recorder import Recorder
from ontogeny.record.train import record_step, run_identity
from ontogeny.record.training import Training, objective_of
from ontogeny.store.run import Run
from tiny_recipe import tiny

INDEX = {
    "instrument": (
        "gradient_norm update_ratio gradient_stability "
        "effective_rank stable_rank participation_ratio rankme alpha_req weight_tail_exponent "
        "covariance_tail "
        "previous_token induction duplicate_token copying sink_mass attention_entropy head_dimension "
        "massive_activation exact_sparsity dead_units dormant_units token_similarity rank_residual "
        "residual_norm inverse_participation spectral_entropy "
        "token_loss ngram_distance prior_loading surprisal heldout_loss"
    ),
    "comparison": (
        "cka svcca pwcca procrustes head_redundancy probability_signature "
        "distance_from_start displacement_cosine update_rank subspace_overlap update_sparsity"
    ),
    "summary": (
        "loss_stagnation loss_improvement backslide volatility spike_score sink_rate entropy_dispersion "
        "residual_growth age_of_acquisition forgettability learning_time_spectrum"
    ),
    "fit": "prior_direction",
}
KIND = {name: kind for kind, names in INDEX.items() for name in names.split()}
FAMILY = {
    "telemetry": (
        "gradient_norm update_ratio gradient_stability loss_stagnation loss_improvement backslide volatility "
        "spike_score"
    ),
    "spectra": (
        "effective_rank stable_rank participation_ratio rankme alpha_req weight_tail_exponent cka svcca "
        "pwcca procrustes covariance_tail"
    ),
    "heads": (
        "previous_token induction duplicate_token copying sink_mass sink_rate attention_entropy "
        "head_redundancy entropy_dispersion head_dimension"
    ),
    "activations": (
        "massive_activation exact_sparsity dead_units dormant_units token_similarity rank_residual "
        "residual_norm residual_growth inverse_participation spectral_entropy"
    ),
    "tokens": (
        "token_loss age_of_acquisition forgettability learning_time_spectrum ngram_distance prior_direction "
        "prior_loading probability_signature surprisal heldout_loss"
    ),
    "trajectory": "distance_from_start displacement_cosine update_rank subspace_overlap update_sparsity",
}
#: Names whose kind departs from the index.
DEPARTURES = {
    "probability_signature": "instrument",  # it compares weights with counts of the training data
    "head_redundancy": "instrument",  # it compares the heads of one layer, and sees no second checkpoint
}
MISSING: set[str] = set()


def present() -> dict[str, Part]:
    return {name: made for kind in sorted(MEASURING) for name, made in parts(kind).items()}


def test_the_index_is_whole():
    families = {name: family for family, names in FAMILY.items() for name in names.split()}
    assert set(families) == set(KIND)
    assert set(FAMILY) <= set(FAMILIES)


def test_what_is_missing_is_what_is_listed():
    assert set(KIND) - set(present()) == MISSING


@pytest.mark.parametrize("name", sorted(KIND))
def test_a_name_has_its_kind_and_family(name):
    made = present().get(name)
    if made is None:
        assert name in MISSING
        return
    assert made.kind == DEPARTURES.get(name, KIND[name])
    assert name in FAMILY[made.family].split()


#: Enough for windows of 128 steps and for 21 evaluations.
STEPS = 160


@pytest.fixture(scope="session")
def measured(tmp_path_factory) -> Run:
    """A run wide enough for spectra and long enough for what looks back, with every online part; everything
    measured on it."""
    path = tmp_path_factory.mktemp("index") / "run"
    recipe = tiny(
        model={"width": 48, "layers": 2, "heads": 4, "mlp_width": 64},
        objective={"vocabulary": 64, "context": 40, "longest": 12},
    )
    training = Training(recipe, objective_of(recipe, path))
    others = {name: part for name, part in training.state.items() if name not in ("model", "optimizer")}
    online = [name for name, made in parts("instrument").items() if made.online]
    with Recorder(
        path,
        training.model,
        training.optimizer,
        checkpoints=range(0, STEPS + 1, STEPS // 10),
        parts=others,
        identity=run_identity(training),
        every=dict.fromkeys(online, 1),
    ) as recorder:
        for _ in range(STEPS):
            record_step(training, recorder, training.step())
            if recorder.counters.step % 6 == 0:
                recorder.log(**training.evaluate(8))
    names = [name for name in present() if name not in online]
    measure(path, names)
    return Run.open(path)


#: Names that this fixture cannot give, and the test that shows them `ok`.
ELSEWHERE: dict[str, str] = {
    "ngram_distance": "tests/instruments/test_ngram_distance.py: its data can be counted",
    "prior_direction": "tests/instruments/test_prior_direction.py: its data can be counted",
    "prior_loading": "tests/instruments/test_prior_loading.py: its data can be counted",
    "probability_signature": "tests/instruments/test_probability_signature.py: its data can be counted",
    "loss_improvement": "tests/instruments/test_loss_improvement.py: it takes 100 steps",
    "spike_score": "tests/instruments/test_spike_score.py: it takes 128 steps",
    "volatility": "tests/instruments/test_volatility.py: it takes 21 evaluations",
}


@pytest.mark.parametrize("name", sorted(KIND))
def test_it_reads_something(name, measured):
    made = present().get(name)
    if made is None or name in ELSEWHERE:
        assert name in MISSING or name in ELSEWHERE
        return
    if made.online:
        assert measured.telemetry(name)[name].notna().any()
        return
    table = measured.table(name)
    assert (table["status"] == "ok").any(), table[["status", "reason"]].drop_duplicates().to_string()

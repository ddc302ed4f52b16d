"""TOK-04."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from ontogeny.catalogue import DataFacts, instrument
from ontogeny.evidence.residual_sample import chosen_positions
from ontogeny.numerics.neighbours import rank_correlation
from ontogeny.numerics.token_ends import TokenEnds
from ontogeny.vocabulary import Reading, Status, Stimulus, undefined

#: Predictions that are made again with another loading.
REMADE = 128
#: What their loading is multiplied by, and how that is called.
FACTORS = {"without": 0.0, "half": 0.5, "as_is": 1.0, "twice": 2.0}


class _Loaded(NamedTuple):
    loading: Tensor
    row: Tensor
    position: Tensor


@instrument(
    unit="loading",
    source='"direction of ignorance", 2026 (from abstract); causal check as defined here: ours',
    family="tokens",
    null="random_direction",
)
def prior_loading(
    final_sample: Tensor,
    final_ends: TokenEnds,
    prior_direction: Mapping[str, Tensor],
    facts: DataFacts,
    stimulus: Stimulus,
) -> dict[str, Reading]:
    """How much of what the model predicts is just how frequent tokens are.

    Mean of λ = x·u / (u·u) over up to 1280 evenly spread final states, x the state before the final norm's
    gain, u the `prior_direction`: the logits are λ W u (the prior, raised to λ) and the rest (what context
    says). `deviation` is its standard deviation, `quarter_1` … `quarter_4` are its means by position in the
    row, `with_position` and `with_surprisal` Spearman correlations with position and with how surprising the
    next token is to the 5-gram model of training. `divergence_…`: KL to the prior, in nats, of 128
    predictions made with the loading left out, halved, as it is, doubled. Null: random directions as long.

    Known: logits of ln p + const -> 1; logits independent of it -> 0.
    Misleads: λ is a least-squares share, not a cause; the divergences say what changing it does. A direction
    that fits the prior badly (see its R²) reads little else than noise.
    """
    sequences, length = stimulus.shape
    flat = chosen_positions(sequences, length)[: len(final_sample)]
    reader = prior_direction["reader"]
    loading = final_sample.double().cpu() @ reader
    loaded = _Loaded(loading, flat // length, flat % length)
    if not bool(loading.isfinite().all()):
        return {"": undefined(Status.NONFINITE, "a final state holds what is no number", n=len(loading))}
    if len(loading) < 2:
        return {"": undefined(Status.N_TOO_SMALL, f"{len(loading)} final states", n=len(loading))}
    found = {"": Reading(loading.mean(), n=len(loading)), "deviation": Reading(loading.std(), n=len(loading))}
    found |= _by_position(loaded, length)
    found["with_surprisal"] = _with_surprisal(loaded, facts, stimulus)
    return found | _remade(final_sample, loading, final_ends, prior_direction)


def _by_position(loaded: _Loaded, length: int) -> dict[str, Reading]:
    quarter = loaded.position * 4 // length
    found = {"with_position": _correlation(loaded.loading, loaded.position)}
    for number in range(4):
        here = loaded.loading[quarter == number]
        name = f"quarter_{number + 1}"
        found[name] = Reading(here.mean(), n=len(here)) if len(here) else _too_few(0)
    return found


def _too_few(n: int) -> Reading:
    return undefined(Status.N_TOO_SMALL, f"{n} final states", n=n)


def _correlation(one: Tensor, other: Tensor) -> Reading:
    if len(one) < 3:
        return _too_few(len(one))
    value = rank_correlation(one.double().numpy(), other.double().numpy())
    return Reading(value, n=len(one), status=Status.CONSTANT_INPUT, reason="one of the two never varies")


def _with_surprisal(loaded: _Loaded, facts: DataFacts, stimulus: Stimulus) -> Reading:
    known = facts.statistics()
    if known is None:
        return undefined(Status.NOT_OBSERVABLE, "the data that was trained on cannot be counted")
    told = loaded.position < stimulus.shape[1] - 1
    row, position = loaded.row[told], loaded.position[told]
    targets = stimulus.tokens[row, position + 1]
    places = row * stimulus.shape[1] + position
    surprisal = known.ngrams(stimulus.tokens).target_surprisal(places, targets)
    return _correlation(loaded.loading[told], surprisal)


def _remade(
    states: Tensor, loading: Tensor, ends: TokenEnds, fitted: Mapping[str, Tensor]
) -> dict[str, Reading]:
    prior = fitted["prior"].float()
    chosen = torch.arange(min(REMADE, len(states))) * len(states) // min(REMADE, len(states))
    unembedding = ends.unembedding[: len(prior)].float().cpu()
    logits = states[chosen].float().cpu() @ unembedding.T
    direction = fitted["direction"].float()
    along = unembedding @ (direction if ends.gain is None else direction * ends.gain.float().cpu())
    moved = loading[chosen].float()[:, None] * along
    found = {}
    for name, factor in FACTORS.items():
        chances = (logits + (factor - 1) * moved).log_softmax(-1)
        divergence = (chances.exp() * (chances - prior)).nansum(-1) + 0 * chances.amax(-1)
        found[f"divergence_{name}"] = Reading(divergence.double().mean(), n=len(chosen))
    return found

"""A block of random tokens, then the same block again: the input that induction is screened on."""

import torch
from torch import Tensor

from ontogeny.catalogue import DataFacts, stimulus
from ontogeny.numerics.aims import exchanged, previous_aim
from ontogeny.vocabulary import Aim, Reading, Status, Stimulus, Streams, undefined

SHORTEST = 12


@stimulus(source="instruments.md, section 3; Olsson et al. 2209.11895")
def repeated_tokens(
    facts: DataFacts, *, sequences: int = 64, least_count: int = 100, seed: int = 0
) -> Stimulus | Reading:
    """Per sequence a block of L tokens, unique within the block, then the same block again.

    L is one of 12 … ⌊(context − 1) / 2⌋, all equally often, without any repeat length fixed in training;
    only tokens seen at least `least_count` times in the training data; the beginning token first where there
    is one; what is left of the row is filled with further tokens. Aims of second-copy queries: `successor`
    (lag L − 1) and `duplicate` (lag L), whose false templates are other sequences' own; and `previous` (lag 1
    from any query, false lags 2 … 10, below every L − 1). Key 0 is never a target. Weights: predictions that
    repetition gives away.
    `too-short` where fewer than two L fit, `n-too-small` where too few tokens are usual enough.
    """
    head = 0 if facts.beginning() is None else 1
    allowed = [
        lag
        for lag in range(SHORTEST, (min(facts.context, 512) - 1) // 2 + 1)
        if lag not in facts.fixed_lags()
    ]
    if len(allowed) < 2:
        return undefined(
            Status.TOO_SHORT, f"no repeat length from {SHORTEST} up fits a context of {facts.context}"
        )
    usual = _usual_tokens(facts, least_count)
    if len(usual) < allowed[-1]:
        return _too_few(facts, len(usual), allowed[-1], least_count)
    rng = Streams(seed).generator("measurement", place="repeated_tokens")
    choice = torch.tensor(allowed)
    own = (torch.arange(sequences) % len(choice))[torch.randperm(sequences, generator=rng)]
    lags = choice[own]
    tokens = _rows(usual, lags, head + 2 * allowed[-1], facts.beginning(), rng)
    length = tokens.shape[1]
    queries, _ = _second_copies(choice, length, head)
    # Without a beginning token the second copy's first query has its duplicate at key 0.
    duplicated = queries & (torch.arange(length) > choice[:, None])
    aims = {
        "successor": Aim(choice - 1, queries, own, exchanged(own, rng)),
        "duplicate": Aim(choice, duplicated, own, exchanged(own, rng)),
        # False lags shorter than any L − 1: what an induction head does is no null of this aim.
        "previous": previous_aim(sequences, length, rng, longest=SHORTEST - 2),
    }
    _, weights = _second_copies(lags, length, head)
    return Stimulus("repeated_tokens", tokens, weights, aims, {"seed": seed, "least_count": least_count})


def _usual_tokens(facts: DataFacts, least_count: int) -> Tensor:
    counts = facts.token_counts()
    usual = torch.arange(facts.vocabulary) if counts is None else (counts >= least_count).nonzero().flatten()
    return usual if facts.beginning() is None else usual[usual != facts.beginning()]


def _too_few(facts: DataFacts, known: int, needed: int, least_count: int) -> Reading:
    counted = facts.token_counts() is not None
    which = f"occur {least_count} times in training" if counted else "may be used"
    needs = f"a block for a context of {facts.context} needs {needed} different ones"
    remedy = "; it takes more data, or a smaller vocabulary" if counted else ""
    reason = f"{known} tokens of the vocabulary {which}; {needs}: heads cannot be screened on it{remedy}"
    return undefined(Status.N_TOO_SMALL, reason, n=known)


def _rows(usual: Tensor, lags: Tensor, length: int, first: int | None, rng: torch.Generator) -> Tensor:
    head = 0 if first is None else 1
    rows = torch.full((len(lags), length), first or 0)
    for row, lag in zip(rows, lags.tolist(), strict=True):
        block = usual[torch.randperm(len(usual), generator=rng)[:lag]]
        rest = torch.randint(len(usual), (length - head - 2 * lag,), generator=rng)
        row[head:] = torch.cat([block, block, usual[rest]])
    return rows


def _second_copies(lags: Tensor, length: int, head: int) -> tuple[Tensor, Tensor]:
    """Queries inside the second copy, and weight 1 where the next token is one repetition gives away."""
    positions = torch.arange(length)
    start, end = head + lags[:, None], head + 2 * lags[:, None]
    queries = (positions >= start) & (positions < end)
    weights = (queries & (positions + 1 < end)).float()
    return queries, weights

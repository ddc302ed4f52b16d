"""A block of random tokens, then the same block again: the input that induction is screened on."""

import torch
from torch import Tensor

from ontogeny.catalogue import DataFacts, stimulus
from ontogeny.vocabulary import Aim, Reading, Status, Stimulus, Streams, undefined

DRAWS = 199
SHORTEST = 12


@stimulus(source="instruments.md, section 3; Olsson et al. 2209.11895")
def repeated_tokens(
    facts: DataFacts, *, sequences: int = 64, least_count: int = 100, seed: int = 0
) -> Stimulus | Reading:
    """Per sequence a block of L tokens, unique within the block, then the same block again.

    L is drawn from 12 … ⌊(context − 1) / 2⌋ without any repeat length fixed in training; only tokens seen
    at least `least_count` times in the training data; the beginning token first where there is one; what is
    left of the row is filled with further tokens that nothing looks at. Aims of second-copy queries:
    `successor` (lag L − 1), `duplicate` (lag L), `previous` (lag 1; its shuffled lags are uniform on 2 … 10,
    which is below every L − 1). Weights: predictions that repetition
    gives away. `too-short` where no L fits, `n-too-small` where too few tokens are usual enough.
    """
    head = 0 if facts.beginning() is None else 1
    allowed = [
        lag
        for lag in range(SHORTEST, (min(facts.context, 512) - 1 - head) // 2 + 1)
        if lag not in facts.fixed_lags()
    ]
    if len(allowed) < 2:
        return undefined(
            Status.TOO_SHORT, f"no repeat length from {SHORTEST} up fits a context of {facts.context}"
        )
    usual = _usual_tokens(facts, least_count)
    if len(usual) < allowed[-1]:
        return undefined(
            Status.N_TOO_SMALL, f"{len(usual)} tokens occur {least_count} times; a block needs {allowed[-1]}"
        )
    rng = Streams(seed).generator("measurement", place="repeated_tokens")
    choice = torch.tensor(allowed)
    lags = choice[torch.randint(len(choice), (sequences,), generator=rng)]
    others = torch.randint(1, len(choice), (DRAWS, sequences), generator=rng)
    shuffled = choice[(torch.searchsorted(choice, lags) + others) % len(choice)]
    tokens = _rows(usual, lags, head + 2 * allowed[-1], facts.beginning(), rng)
    queries, weights = _second_copies(lags, tokens.shape[1], head)
    ones = torch.ones_like(lags)
    # Shorter than any L − 1: the null of a previous-token head must not be what an induction head does.
    short = torch.randint(2, SHORTEST - 1, (DRAWS, sequences), generator=rng)
    aims = {
        "successor": Aim(lags - 1, queries, shuffled - 1),
        "duplicate": Aim(lags, queries, shuffled),
        "previous": Aim(ones, queries, short),
    }
    return Stimulus("repeated_tokens", tokens, weights, aims, {"seed": seed, "least_count": least_count})


def _usual_tokens(facts: DataFacts, least_count: int) -> Tensor:
    counts = facts.token_counts()
    usual = torch.arange(facts.vocabulary) if counts is None else (counts >= least_count).nonzero().flatten()
    return usual if facts.beginning() is None else usual[usual != facts.beginning()]


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

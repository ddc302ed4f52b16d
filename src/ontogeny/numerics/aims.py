"""How aims are drawn: what each query should look at, and what it is compared with."""

import torch
from torch import Tensor

from ontogeny.vocabulary import Aim

#: Draws of a null: the smallest p is 1 / (DRAWS + 1).
DRAWS = 199
#: At most so many false lags beside lag 1, evenly spread; each costs one look at every pattern.
FALSE_LAGS = 31


def previous_aim(sequences: int, length: int, rng: torch.Generator, longest: int | None = None) -> Aim:
    """Query t ≥ 1 at key t − 1; the false templates are lags from 2 to `longest` (T / 2), key 0 never a
    target."""
    longest = longest or length // 2
    false = torch.linspace(2, longest, min(FALSE_LAGS, longest - 1)).round().long()
    lags = torch.cat([torch.ones(1, dtype=torch.long), false])
    first = torch.cat([torch.ones(1, dtype=torch.long), false + 1])
    queries = torch.arange(length) >= first[:, None]
    own = torch.zeros(sequences, dtype=torch.long)
    return Aim(lags, queries, own, torch.randint(1, len(lags), (DRAWS, sequences), generator=rng))


def exchanged(own: Tensor, rng: torch.Generator) -> Tensor:
    """Draws in which sequences exchange their templates, none keeping its own kind [draw sequence].

    Every draw has the same templates as the truth, so a habit of position reads alike in both. At least two
    templates must occur, none in more than half of the sequences.
    """
    return torch.stack([_exchange(own, rng) for _ in range(DRAWS)])


def _exchange(own: Tensor, rng: torch.Generator) -> Tensor:
    given = own[torch.randperm(len(own), generator=rng)]
    while len(kept := (given == own).nonzero().flatten()):
        one = kept[0]
        others = ((given != own[one]) & (own != given[one])).nonzero().flatten()
        other = others[torch.randint(len(others), (1,), generator=rng)]
        given[one], given[other] = given[other].clone(), given[one].clone()
    return given

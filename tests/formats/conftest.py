"""Tokens, and pickles opened without the cost of another process."""

import pytest
import torch

from foreign_folders import opening_here
from ontogeny.formats import Trust


@pytest.fixture
def tokens() -> torch.Tensor:
    return torch.randint(61, (3, 24), generator=torch.Generator().manual_seed(5))


@pytest.fixture
def trusted(monkeypatch) -> Trust:
    return opening_here(monkeypatch)

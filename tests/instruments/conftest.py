"""A subject that shows given tensors, so that an instrument is read through the whole measuring path."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from ontogeny.catalogue import measuring_part
from ontogeny.evidence import WITHOUT_PASS
from ontogeny.measure.checkpoint import Unit, gather, measure_checkpoint
from ontogeny.numerics.aims import previous_aim
from ontogeny.subject import Subject
from ontogeny.vocabulary import Place, Status, Stimulus, undefined

Rows = dict[str, list[dict[str, Any]]]


class Canned(Subject):
    """Shows one tensor at one kind of site of layer 0, batch after batch, and computes nothing.

    At `matrix` it is the only parameter; at `model` several may be given by name. `beside` is what it shows
    at other kinds of site.
    """

    def __init__(self, at: str, tensor: Any, beside: Mapping[str, Tensor] | None = None) -> None:
        self.at, self.tensor, self.seen, self.beside = at, tensor, 0, beside or {}
        self.model: Any = None
        names = {Place(layer=0, matrix="w"): "w"}
        self.anatomy: Any = SimpleNamespace(matrix_names=lambda model: names, projections=None)

    def observable(self, kind: str) -> bool:
        return kind == self.at or kind in self.beside

    def parameters(self) -> Mapping[str, Tensor]:
        return self.tensor if isinstance(self.tensor, Mapping) else {"w": self.tensor}

    def run(self, tokens: Tensor, *, taps: Mapping[str, Any] | None = None) -> Tensor:
        rows = slice(self.seen, self.seen + len(tokens))
        here = self.tensor[rows]
        self.seen += len(tokens)
        for site, tensor in {self.at: self.tensor, **self.beside}.items():
            if taps and site in taps:
                taps[site](Place(layer=0), tensor[rows])
        return here if self.at == "logits" else torch.zeros(*tokens.shape, 2)


def plain_stimulus(sequences: int, length: int, **changes: Any) -> Stimulus:
    """Tokens 0; every prediction counts; aim `previous` as the stimuli draw it."""
    weights = torch.ones(sequences, length)
    weights[:, -1] = 0
    rng = torch.Generator().manual_seed(0)
    aims = {"previous": previous_aim(sequences, length, rng)} if length >= 6 else {}
    tokens = torch.zeros(sequences, length, dtype=torch.long)
    return Stimulus("heldout", **{"tokens": tokens, "weights": weights, "aims": aims, **changes})


@pytest.fixture
def stimulus_of() -> Callable[..., Stimulus]:
    return plain_stimulus


@pytest.fixture
def read() -> Callable[..., Rows]:
    """`read(part, at, tensor)` gives rows by component; the first axis of the tensor is the sequences'.

    `there` is what the reference shows; of several references, by name, None where there is no such.
    """

    def measure(
        name: str,
        at: str,
        tensor: Any,
        stimulus: Stimulus | None = None,
        there: Any = None,
        batch: int = 4,
        parameters: Mapping[str, Any] | None = None,
        beside: Mapping[str, Tensor] | None = None,
    ) -> Rows:
        weights = at in WITHOUT_PASS
        if stimulus is None and not weights:
            stimulus = plain_stimulus(*(tensor.shape[:2] if at != "attention" else tensor.shape[::2]))
        made = measuring_part(name)
        unit = Unit(made, at, stimulus, "" if weights else "heldout", parameters or {})
        several = isinstance(made.options.get("reference"), tuple)

        def seen(far: Any, compared: list[Unit]) -> Any:
            none = undefined(Status.NO_TARGET, "there is no such checkpoint")
            return none if far is None else gather(Canned(at, far), compared, batch)

        def refer(compared: list[Unit]) -> Any:
            if several and there is not None:
                return {reference: seen(far, compared) for reference, far in there.items()}
            return seen(tensor if there is None else there, compared)

        measured = measure_checkpoint(Canned(at, tensor, beside), [unit], refer, batch)
        found: Rows = {}
        for row in measured.rows:
            assert (row["value"] is not None) == (row["status"] == "ok"), row
            assert row["reason"] or row["status"] == "ok", row
            found.setdefault(row["component"], []).append(row)
        return found

    return measure


@pytest.fixture
def value(read) -> Callable[..., float]:
    """The part's own number where it is one number."""

    def one(*arguments: Any, component: str = "", **named: Any) -> float:
        (row,) = read(*arguments, **named)[component]
        assert row["status"] == "ok", row
        return row["value"]

    return one


@pytest.fixture
def status(read) -> Callable[..., str]:
    """The status of the part's own number."""

    def one(*arguments: Any, component: str = "", **named: Any) -> str:
        (found,) = {row["status"] for row in read(*arguments, **named)[component]}
        return found

    return one


@pytest.fixture
def gaussian() -> Callable[..., Tensor]:
    """Seeded standard normal numbers."""
    return lambda *shape, seed=0: torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def uniform() -> Callable[[int, int, int], Tensor]:
    """Causal attention that is the same on every key a query can see [sequence head query key]."""

    def pattern(sequences: int, heads: int, length: int) -> Tensor:
        seen = torch.ones(length, length).tril()
        return (seen / seen.sum(1, keepdim=True)).expand(sequences, heads, length, length).clone()

    return pattern


@pytest.fixture
def looking() -> Callable[[Tensor], Tensor]:
    """All attention on the key t − lag [sequence head query key]; on key 0 where that lies before it."""

    def pattern(lags: Tensor, length: int) -> Tensor:
        keys = (torch.arange(length) - lags[:, None]).clamp_min(0)
        return torch.nn.functional.one_hot(keys, length).float()[:, None]

    return pattern

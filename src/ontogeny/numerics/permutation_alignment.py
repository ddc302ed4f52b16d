"""Weight matching: the order of a decoder's units that brings it closest to another decoder (TRA-04).

An alignment is one order for each space of features (`feature_spaces`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ontogeny.errors import BadContract
from ontogeny.numerics.assignment import assignment, total_gain
from ontogeny.numerics.feature_spaces import ATTENTION, RESIDUAL, feature_spaces
from ontogeny.numerics.head_orders import head_orders
from ontogeny.vocabulary import Reading, Status, undefined

#: A sweep that gains no more than this ends a climb; so does this many sweeps.
LEAST_GAIN, MOST_SWEEPS = 1e-12, 100

Arrays = dict[str, NDArray[np.float64]]
Orders = dict[str, NDArray[np.int64]]


@runtime_checkable
class DecoderShape(Protocol):
    """What must be known of a decoder beside its tensors; `DecoderConfig` has it."""

    @property
    def layers(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def key_heads(self) -> int: ...
    @property
    def positions(self) -> str: ...
    @property
    def qk_norm(self) -> bool: ...


@dataclass(frozen=True)
class Symmetries:
    """Which units may change places.

    mlp           hidden units of an MLP: rows of gate and up, columns of down
    heads         whole attention heads; of grouped heads, groups and the query heads within one
    value_output  features within a head, of values and what they are written with (needs `heads`)
    query_key     features within a head, of queries and keys (needs `heads`); no symmetry under rotary
                  positions, nor with QK norm, whose gains all heads share
    residual      the one order of the whole residual stream, which the norms' gains follow
    """

    mlp: bool = True
    heads: bool = True
    value_output: bool = False
    query_key: bool = False
    residual: bool = False


@dataclass(frozen=True)
class Alignment:
    """A decoder in the order found: its tensors, the order of each space, and what was gained.

    `orders[space][i]` is where feature i comes from. `overlap` is ⟨here, there⟩ over all tensors after,
    `overlap_before` before; ‖here − there‖² has fallen by twice their difference. `sweeps` counts sweeps
    that moved something.
    """

    state: Mapping[str, Tensor]
    orders: Mapping[str, NDArray[np.int64]]
    overlap_before: float
    overlap: float
    sweeps: int


def permutation_alignment(
    here: Mapping[str, Tensor],
    there: Mapping[str, Tensor],
    shape: DecoderShape,
    generator: torch.Generator,
    symmetries: Symmetries = Symmetries(),
    starts: int = 5,
) -> Alignment | Reading:
    """Reorder the units of `there` so that ⟨here, there⟩ is largest; both are states of one Decoder.

    Coordinate ascent over spaces in random order, each an assignment problem solved exactly; the first
    start is the order given, the others are random, the best is kept. With `mlp` and `heads` alone no two
    problems share a tensor: one start and one sweep are then exact. The function computed stays the same, to
    rounding. Status: `failed` where names or shapes differ, `nonfinite`. BadContract for symmetries that
    this decoder does not have.
    Known: a permuted copy -> the copy's original; the distance never grows.
    Misleads: with `residual`, or features within grouped heads, only a local best is found. A smaller
    distance is not a smaller loss barrier.
    """
    _require(shape, symmetries)
    refusal = _refuse_states(here, there)
    if refusal is not None:
        return refusal
    matching = _Matching(here, there, shape, symmetries)
    coupled = symmetries.residual or (
        shape.heads > shape.key_heads and (symmetries.value_output or symmetries.query_key)
    )
    found = [matching.climb(generator, scatter=start > 0) for start in range(starts if coupled else 1)]
    best = max(found, key=lambda climb: climb.overlap)
    state = {name: _ordered(tensor, matching.touching[name], best.orders) for name, tensor in there.items()}
    return Alignment(state, best.orders, matching.overlap(matching.there), best.overlap, best.sweeps)


class _Climb(NamedTuple):
    overlap: float
    orders: Orders
    sweeps: int


class _Matching:
    """Two states in float64, the spaces of their decoder, and the moves over them."""

    def __init__(
        self,
        here: Mapping[str, Tensor],
        there: Mapping[str, Tensor],
        shape: DecoderShape,
        symmetries: Symmetries,
    ) -> None:
        self.here, self.there = _arrays(here), _arrays(there)
        self.shape, self.symmetries = shape, symmetries
        self.spaces = feature_spaces(here, shape.layers)
        self.touching = {
            name: [
                (axis, space) for space, axes in self.spaces.items() for n, axis in axes.items() if n == name
            ]
            for name in here
        }
        self.moves = self._moves()

    def _moves(self) -> list[tuple[str, ...]]:
        """Spaces that are ordered together."""
        moves: list[tuple[str, ...]] = [(RESIDUAL,)] if self.symmetries.residual else []
        for layer in range(self.shape.layers):
            if self.symmetries.heads:
                moves.append(tuple(f"blocks.{layer}.attention.{name}" for name in ATTENTION))
            if self.symmetries.mlp and f"blocks.{layer}.mlp.hidden" in self.spaces:
                moves.append((f"blocks.{layer}.mlp.hidden",))
        return moves

    def climb(self, generator: torch.Generator, scatter: bool) -> _Climb:
        """From the order given, or a random one, upwards until a sweep gains nothing."""
        state = dict(self.there)
        orders = {space: np.arange(self._size(space)) for move in self.moves for space in move}
        if scatter:
            for move in self.moves:
                noise = [_noise(self._size(space), generator) for space in move]
                self._apply(move, self._solve(move, noise), state, orders)
        sweeps = 0
        while sweeps < MOST_SWEEPS and self._sweep(state, orders, generator):
            sweeps += 1
        return _Climb(self.overlap(state), orders, sweeps)

    def _sweep(self, state: Arrays, orders: Orders, generator: torch.Generator) -> bool:
        """Every move once, in random order; whether anything was gained."""
        gained = False
        for index in torch.randperm(len(self.moves), generator=generator).tolist():
            move = self.moves[index]
            gains = [self._gains(space, state) for space in move]
            chosen = self._solve(move, gains)
            pairs = list(zip(gains, chosen, strict=True))
            gain = sum(float(total_gain(table, order) - np.trace(table)) for table, order in pairs)
            if gain > LEAST_GAIN:
                self._apply(move, chosen, state, orders)
                gained = True
        return gained

    def _gains(self, space: str, state: Arrays) -> NDArray[np.float64]:
        """What each feature of `there` would add in each place of `here` [feature feature]."""
        size = self._size(space)
        total = np.zeros((size, size))
        for name, axis in self.spaces[space].items():
            sides = [np.moveaxis(arrays[name], axis, 0).reshape(size, -1) for arrays in (self.here, state)]
            total += sides[0] @ sides[1].T
        return total

    def _solve(self, move: tuple[str, ...], gains: list[NDArray[np.float64]]) -> list[NDArray[np.int64]]:
        if len(move) == 1:
            return [assignment(gains[0])]
        free = self.symmetries
        return head_orders(
            gains,
            self.shape.key_heads,
            self.shape.heads,
            value_output=free.value_output,
            query_key=free.query_key,
        )

    def _apply(
        self, move: tuple[str, ...], chosen: list[NDArray[np.int64]], state: Arrays, orders: Orders
    ) -> None:
        for space, order in zip(move, chosen, strict=True):
            orders[space] = orders[space][order]
            for name, axis in self.spaces[space].items():
                state[name] = np.take(state[name], order, axis)

    def _size(self, space: str) -> int:
        name, axis = next(iter(self.spaces[space].items()))
        return self.here[name].shape[axis]

    def overlap(self, state: Arrays) -> float:
        return sum(float(np.vdot(self.here[name], array)) for name, array in state.items())


def _noise(size: int, generator: torch.Generator) -> NDArray[np.float64]:
    return torch.rand(size, size, generator=generator, dtype=torch.float64).numpy()


def _arrays(state: Mapping[str, Tensor]) -> Arrays:
    return {name: tensor.detach().cpu().double().numpy() for name, tensor in state.items()}


def _ordered(tensor: Tensor, touching: list[tuple[int, str]], orders: Orders) -> Tensor:
    for axis, space in touching:
        if space in orders:
            tensor = tensor.index_select(axis, torch.from_numpy(orders[space]).to(tensor.device))
    return tensor


def _require(shape: DecoderShape, symmetries: Symmetries) -> None:
    within = symmetries.value_output or symmetries.query_key
    if within and not symmetries.heads:
        raise BadContract(
            "features within heads cannot be ordered alone", received=symmetries, remedy="heads=True"
        )
    if symmetries.query_key and (shape.positions == "rotary" or shape.qk_norm):
        raise BadContract(
            "queries and keys of this decoder may not change places within a head",
            received=f"positions {shape.positions!r}, qk_norm {shape.qk_norm}",
            allowed="learned or no positions, and no QK norm",
            remedy="query_key=False",
        )


def _refuse_states(here: Mapping[str, Tensor], there: Mapping[str, Tensor]) -> Reading | None:
    for name in sorted(here.keys() | there.keys()):
        if name not in here or name not in there or here[name].shape != there[name].shape:
            return undefined(Status.FAILED, f"{name} is not of one shape in both")
        if not (torch.isfinite(here[name]).all() and torch.isfinite(there[name]).all()):
            return undefined(Status.NONFINITE, f"{name} is not finite")
    return None

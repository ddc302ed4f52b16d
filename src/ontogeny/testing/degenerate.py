"""Input that nothing can be read from, for every measuring part: a status each time, never a traceback."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ontogeny.anatomy import HeadWeights
from ontogeny.catalogue import Part
from ontogeny.measure.asked import asked_parts
from ontogeny.measure.checkpoint import Unit, gather, measure_checkpoint
from ontogeny.measure.reading_rows import Row
from ontogeny.subject import Subject
from ontogeny.testing.tiny import TinyFacts, tiny_subject, tiny_units
from ontogeny.vocabulary import Aim, Place, Status, Stimulus

#: Makes of a tensor seen at a kind of site (`weight` for weights) another one.
Distortion = Callable[[str, Tensor], Tensor]
#: Units of numbers that lie between −1 and 1 whatever is read.
BOUNDED = ("attention", "cosine", "similarity", "share")


def _first_entry(value: float) -> Distortion:
    def spoil(at: str, tensor: Tensor) -> Tensor:
        spoilt = tensor.clone()
        if spoilt.numel():
            spoilt[(0,) * spoilt.ndim] = value
        return spoilt

    return spoil


def _one_direction(at: str, tensor: Tensor) -> Tensor:
    if at == "attention":  # a pattern has no directions; every query looks at key 0
        return torch.zeros_like(tensor).index_fill_(-1, torch.zeros(1, dtype=torch.long), 1.0)
    return tensor[..., :1].expand_as(tensor).contiguous()


def _the_same_everywhere(at: str, tensor: Tensor) -> Tensor:
    if at == "attention":
        return tensor
    return tensor.flatten(0, -2)[0].expand_as(tensor).contiguous() if tensor.ndim > 1 else tensor


#: What may be wrong with everything that is shown, weights among it.
DISTORTIONS: Mapping[str, Distortion] = {
    "one NaN": _first_entry(math.nan),
    "NaN": lambda at, tensor: torch.full_like(tensor, math.nan),
    "one infinity": _first_entry(math.inf),
    "infinities": lambda at, tensor: torch.full_like(tensor, math.inf),
    "float16": lambda at, tensor: tensor.half(),
    "bfloat16": lambda at, tensor: tensor.bfloat16(),
    "huge": lambda at, tensor: tensor if at == "attention" else tensor * 1e30,
    "tiny": lambda at, tensor: tensor if at == "attention" else tensor * 1e-30,
    "zero": lambda at, tensor: torch.zeros_like(tensor),
    "one direction": _one_direction,
    "all equal": _the_same_everywhere,
}
#: What may be wrong with the stimulus: how many sequences and positions of it are left.
CUTS: Mapping[str, tuple[int, int]] = {
    "empty": (0, 40),
    "one sequence": (1, 40),
    "one token": (1, 1),
    "two tokens": (1, 2),
}


class Distorted(Subject):
    """A tiny model that shows everything distorted; `reverse` shows a batch's sites in reverse order."""

    def __init__(self, distortion: Distortion, reverse: bool = False) -> None:
        super().__init__(tiny_subject().model)
        self.distortion, self.reverse = distortion, reverse

    def run(self, tokens: Tensor, *, taps: Mapping[str, Any] | None = None, **more: Any) -> Tensor:
        seen: list[tuple[str, Place, Tensor]] = []
        watching = {at: self._noting(at, seen) for at in taps or {}}
        logits = super().run(tokens, taps=watching, **more)
        for at, place, tensor in reversed(seen) if self.reverse else seen:
            (taps or {})[at](place, self.distortion(at, tensor))
        return self.distortion("logits", logits)

    @staticmethod
    def _noting(at: str, seen: list[tuple[str, Place, Tensor]]) -> Callable[[Place, Tensor], None]:
        return lambda place, tensor: seen.append((at, place, tensor.clone()))

    def parameters(self) -> Mapping[str, Tensor]:
        return {name: self.distortion("weight", p) for name, p in super().parameters().items()}

    def head_weights(self, layer: int) -> HeadWeights:
        return HeadWeights(*(self.distortion("weight", one) for one in super().head_weights(layer)))

    def embedding(self) -> Tensor:
        return self.distortion("weight", super().embedding())

    def unembedding(self) -> Tensor:
        return self.distortion("weight", super().unembedding())

    def final_norm_gain(self) -> Tensor | None:
        gain = super().final_norm_gain()
        return None if gain is None else self.distortion("weight", gain)


def cut_stimulus(stimulus: Stimulus, sequences: int, length: int) -> Stimulus:
    """The beginning of a stimulus; aims that a shorter sequence cannot have are left out."""
    aims = {
        name: Aim(aim.lags, aim.queries, aim.own[:sequences], aim.shuffled[:, :sequences])
        for name, aim in stimulus.aims.items()
        if length >= stimulus.shape[1]
    }
    tokens, weights = stimulus.tokens[:sequences, :length], stimulus.weights[:sequences, :length].clone()
    weights[:, -1:] = 0
    return replace(stimulus, tokens=tokens, weights=weights, aims=aims)


def degenerate_rows(
    parts: Sequence[Part], distortion: str = "", cut: str = "", *, reverse: bool = False, batch: int = 8
) -> list[Row]:
    """Rows of the parts, and of the fits they need, on a distorted tiny model or a cut stimulus.

    References are the plain tiny model.
    """
    asked = [one.part for one in asked_parts([made.name for made in parts])] if parts else []
    units = [unit for made in asked if made.kind != "summary" for unit in tiny_units(made)]
    if cut:
        units = [_cut(unit, *CUTS[cut]) for unit in units]
    subject = Distorted(DISTORTIONS[distortion] if distortion else lambda at, tensor: tensor, reverse)
    facts = TinyFacts()
    return measure_checkpoint(
        subject, units, lambda compared: gather(tiny_subject(), compared, batch, facts), batch, facts
    ).rows


def _cut(unit: Unit, sequences: int, length: int) -> Unit:
    if not isinstance(unit.stimulus, Stimulus):
        return unit
    return replace(unit, stimulus=cut_stimulus(unit.stimulus, sequences, min(length, unit.stimulus.shape[1])))


def broken_promises(rows: Iterable[Row], units: Mapping[str, str]) -> list[str]:
    """What rows break of what every row promises; `units` are those of the parts by name.

    A finite value or an array and `ok`, or neither and a reason; nothing that failed; nothing beyond its
    bounds.
    """
    found = []
    for row in rows:
        what = f"{row['part']} {row['component']} at {row.get('layer')} on {row['stimulus_name']}"
        fine = row["value"] is not None and math.isfinite(row["value"])
        if row["status"] not in set(Status):
            found.append(f"{what}: unknown status {row['status']!r}")
        elif row["status"] == Status.FAILED:
            found.append(f"{what}: {row['reason']}")
        elif fine != (row["status"] == Status.OK) and not row.get("array"):
            found.append(f"{what}: {row['value']} is {row['status']}")
        elif row["status"] != Status.OK and not row["reason"]:
            found.append(f"{what}: {row['status']} without a reason")
        elif fine and _beyond(row, units):
            found.append(f"{what}: {row['value']} is beyond 1")
    return found


def _beyond(row: Row, units: Mapping[str, str]) -> bool:
    bounded = units.get(row["part"]) in BOUNDED and row["component"] == ""
    return bounded and abs(row["value"]) > 1 + 1e-6


def check_degenerate(made: Part) -> None:
    """Every distortion and every cut gives a status and no traceback; AssertionError says which does not."""
    cases = [(name, "") for name in DISTORTIONS] + [("", name) for name in CUTS]
    broken = []
    for distortion, cut in cases:
        rows = [row for row in degenerate_rows([made], distortion, cut) if row["part"] == made.name]
        assert rows, f"{made.name} gave no rows on {distortion or cut}"
        broken += [f"{distortion or cut}: {one}" for one in broken_promises(rows, {made.name: made.unit})]
    assert not broken, "\n".join(broken)

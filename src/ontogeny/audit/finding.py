"""What an audit can find, what each finding may mean, and how grave it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """error: the data are not what their labels say; warning: probably; note: know it before you draw."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Kind:
    """One kind of finding: its severity, and what it may mean."""

    severity: Severity
    meaning: str


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

#: Every kind of finding there is: those of weights, those of results, those of both.
KINDS: Mapping[str, Kind] = {
    "unreadable": Kind(_E, "the checkpoint is damaged, incomplete or of an unknown form; it was left out"),
    "nonfinite": Kind(_E, "NaN or infinite weights: training diverged, or the file is damaged"),
    "changed-tensors": Kind(_E, "a part of the checkpoint is missing, or it belongs to another model"),
    "changed-dtype": Kind(_N, "rounding differs along the series; small changes of weights may be rounding"),
    "no-update-yet": Kind(
        _N, "the first updates had learning rate zero, or were skipped; both points are the initialisation"
    ),
    "same-file": Kind(_E, "one file was saved, copied or evaluated under several steps"),
    "duplicate-checkpoint": Kind(_E, "one checkpoint under several steps, or no update in between"),
    "no-update": Kind(
        _W, "training went on and the weights stood still (rate zero, frozen), or they alone were copied"
    ),
    "swapped-checkpoints": Kind(_E, "two checkpoints carry each other's step"),
    "misplaced-checkpoint": Kind(_E, "the weights of another step under this name"),
    "foreign-checkpoint": Kind(_E, "the weights (or results) of another run or seed under this name"),
    "misplaced-shard": Kind(
        _E, "some tensors are those of another step: a shard was swapped, or not rewritten"
    ),
    "foreign-shard": Kind(
        _E, "some tensors belong to no other step of the series: a shard of another run or seed"
    ),
    "outlier-checkpoint": Kind(_W, "the weights leave the path of the series and come back"),
    "stale-tensors": Kind(
        _W, "tensors stood still for one interval that moved before and after: an old shard, or no gradient"
    ),
    "broken-chain": Kind(_E, "from here on the weights descend from another start: two runs in one series"),
    "not-descended": Kind(
        _W,
        "the series does not descend from its first checkpoint: another seed's, or all of it is forgotten",
    ),
    "foreign-start": Kind(
        _E, "the series descends from the first checkpoint of another series, not from its own"
    ),
    "update-outlier": Kind(
        _W,
        "the weights moved far more than before and after: a spike, a reset, an intervention, a lost part",
    ),
    "interleaved-runs": Kind(_E, "two trajectories take turns in one series"),
    "same-initialisation": Kind(_N, "the series share their initialisation"),
    "shared-checkpoint": Kind(
        _N, "the series share this checkpoint: a branch point, a copy, or one run twice"
    ),
    "duplicate-results": Kind(
        _E, "one checkpoint was evaluated under several steps, or nothing changed in between"
    ),
    "chance-agreement": Kind(_N, "the results agree, but so few of them that it may be chance"),
    "mixed-runs": Kind(_W, "results of several runs in one folder; each is audited as a series of its own"),
    "several-names": Kind(_N, "one model's files under several names; they are audited as one series"),
    "repeated-step": Kind(_W, "a step was evaluated more than once, or two runs are mixed"),
    "changed-batch-size": Kind(_N, "padding and kernels change with the batch: last digits may differ"),
    "changed-setting": Kind(_N, "the points were not all measured in the same way"),
    "changed-task-setting": Kind(
        _W, "the task itself changed: its numbers are not comparable across the change"
    ),
    "changed-tasks": Kind(
        _W, "an evaluation that stopped early or was of another kind; means over tasks jump"
    ),
    "fewer-tasks": Kind(_N, "means over all tasks are not comparable with those of the other series"),
    "outlier-results": Kind(
        _W, "another checkpoint under this name, a failed evaluation, or a spike in training"
    ),
    "erratic-metric": Kind(
        _N, "the metric jumps between checkpoints by more than its errors say; single points mean little"
    ),
    "misplaced-results": Kind(_E, "the results of another step under this name"),
    "missing-points": Kind(_N, "checkpoints were lost or not evaluated; what happened there is not seen"),
    "step-jump": Kind(_W, "the counter was restarted, rescaled or resumed wrongly"),
    "step-mismatch": Kind(_E, "the name says one step and the record another"),
    "no-step": Kind(_W, "no step was found in the name or the settings; it was left out"),
}


@dataclass(frozen=True)
class Finding:
    """One finding: of what kind, in which series, where, what was seen, and the numbers behind it."""

    kind: str
    series: str
    seen: str
    steps: tuple[int, ...] = ()
    tensors: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def severity(self) -> Severity:
        """How grave findings of this kind are."""
        return KINDS[self.kind].severity

    @property
    def meaning(self) -> str:
        """What findings of this kind may mean."""
        return KINDS[self.kind].meaning

    def record(self) -> dict[str, Any]:
        """The finding as plain values, in the order of the table's columns."""
        return {
            "severity": str(self.severity),
            "kind": self.kind,
            "series": self.series,
            "steps": list(self.steps),
            "tensors": list(self.tensors),
            "tasks": list(self.tasks),
            "seen": self.seen,
            "meaning": self.meaning,
            "numbers": dict(self.numbers),
        }


def listed(names: object, most: int = 4) -> str:
    """The first few of some names, and how many more there are."""
    words = [str(name) for name in names]  # pyright: ignore[reportGeneralTypeIssues]
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more

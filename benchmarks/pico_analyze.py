"""CKA, PWCCA and effective rank over a series, beside pico-analyze on its own decoder and its own files.

Claims, on 10 checkpoints of pico-train's decoder (width 96, 12 layers) in its layout, 1,280 samples:
  - `cka`, `pwcca` and `effective_rank` over the whole series (12 layers, 84 matrices; loading, forward passes
    and writing included) take at most a fiftieth of what pico-analyze takes for CKA and PWCCA of the OV
    circuits of 2 layers, and for effective ranks, from activations that were stored in training;
  - none of our similarities is above 1, while CKA and effective rank agree with the peer's to 1e-4 on the
    same matrices; its PWCCA is ours but for weights, which it takes from directions that are not whitened.

Beside them, without a bound: the same with every two layers, as `measure` does it; our parts on the peer's
own matrices, from its files, for OV circuits and for its cheap configuration (what attention adds, 96
features, 12 layers); how many of its values are above 1. CPU time, one thread. The peer runs as published,
in a process and an environment of its own, for about 9 minutes; `--quick` gives it 2 checkpoints.

Needs checkouts of github.com/pico-lm/pico-analyze and pico-train, named by PICO_ANALYZE and PICO_TRAIN;
without them nothing is claimed. The environment is made in `.bench/` by pip at the first run, or its Python
named by PICO_PYTHON.

PICO_ANALYZE=… PICO_TRAIN=… OMP_NUM_THREADS=1 python benchmarks/pico_analyze.py [--quick]
"""

import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from claims import ROOT, Claim, conclude
from ontogeny.catalogue import measuring_part
from ontogeny.measure import Request, Session
from ontogeny.measure.workers import measure_steps
from ontogeny.numerics.canonical import view_of
from ontogeny.numerics.similarity import Items, items_of
from ontogeny.numerics.spectra import singular_values
from ontogeny.series import Series
from ontogeny.store.rows import compact_rows, read_rows
from ontogeny.vocabulary import Pair, Reading

STEPS = list(range(10, 101, 10))
LAYERS, OV_LAYERS, HEADS, KV_HEADS = 12, (0, 11), 12, 4
MATRICES = ("attention.v_proj", "attention.o_proj", "swiglu.w_2")
PARTS = ("cka", "pwcca", "effective_rank")
FASTER = 50
AGREEMENT = 1e-4  # the peer sums in float32

#: By checkpoint and metric, then by component.
Values = dict[str, dict[str, float]]
States = dict[str, dict[str, Tensor]]
Matrices = Callable[[States, tuple[int, ...]], Iterator[tuple[str, Tensor]]]


class Taken(NamedTuple):
    """CPU seconds, and what came of them."""

    seconds: float
    values: Values


class Peer:
    """pico-analyze, as published, in a Python of its own."""

    def __init__(self, analyze: Path, train: Path, folder: Path) -> None:
        self.analyze, self.run, self.folder = analyze, folder / "run", folder
        self.python = Path(os.environ.get("PICO_PYTHON", ROOT / ".bench" / "pico" / "bin" / "python"))
        if not self.python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(self.python.parent.parent)], check=True)
            wanted = ["torch==2.13.0", "transformers", "datasets", "wandb", "rich", "click", "pyyaml"]
            wanted += ["-c", str(ROOT / "constraints.txt")]
            subprocess.run([str(self.python), "-m", "pip", "install", "-q", *wanted], check=True)
        self._ask("make", train, self.run)

    def analysed(self, name: str, activations: dict[str, Any], steps: list[int]) -> Taken:
        """Its command on CKA and PWCCA of these activations, and effective ranks of weights."""
        compared = [
            {"metric_name": metric, "target_checkpoint": STEPS[-1], "components": [activations]}
            for metric in ("cka", "pwcca")
        ]
        weights = {"component_name": "simple", "data_type": "weights", "layers": list(range(LAYERS))}
        ranks = [weights | {"layer_suffixes": suffix} for suffix in MATRICES]
        document = {
            "analysis_name": name,
            "metrics": [
                {**metric, "data_split": "val"}
                for metric in (*compared, {"metric_name": "per", "components": ranks})
            ],
            "steps": steps,
            "monitoring": {"output_dir": str(self.folder / "out"), "save_to_wandb": False},
        }
        config = self.folder / f"{name}.json"
        config.write_text(json.dumps(document))  # JSON is YAML
        found = self._ask("analyze", self.analyze, self.run, config)
        return Taken(found["seconds"], found["values"])

    def _ask(self, *task: str | Path) -> Any:
        command = [str(self.python), str(Path(__file__).with_name("pico_side.py")), *map(str, task)]
        found = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )
        return json.loads(found.stdout)


def ov_circuits(
    states: dict[str, dict[str, Tensor]], layers: tuple[int, ...]
) -> Iterator[tuple[str, Tensor]]:
    """What each head of a layer writes from the last token's value, and all of them side by side."""
    for layer in layers:
        name = f"layers.{layer}"
        value = states["activations"][f"{name}.attention.v_proj"].unflatten(1, (KV_HEADS, -1))
        output = states["weights"][f"{name}.attention.o_proj"].unflatten(1, (HEADS, -1))
        heads = [value[:, h // (HEADS // KV_HEADS)] @ output[:, h].T for h in range(HEADS)]
        yield from ((f"{name}.ov_circuit.activations.heads.{h}", head) for h, head in enumerate(heads))
        yield f"{name}.ov_circuit.activations", torch.cat(heads, dim=1)


def attention_outputs(states: States, layers: tuple[int, ...]) -> Iterator[tuple[str, Tensor]]:
    for layer in layers:
        name = f"layers.{layer}.attention.o_proj"
        yield f"{name}.activations", states["activations"][name]


def from_its_files(run: Path, matrices: Matrices, layers: tuple[int, ...], steps: list[int]) -> Taken:
    """Our parts on the peer's stored activations and weights: the same numbers of the same matrices."""
    cka, pwcca, effective_rank = map(measuring_part, PARTS)
    started, values = time.process_time(), {}
    target = sides_of(states_of(run, STEPS[-1]), matrices, layers)
    for step in steps:
        states = states_of(run, step)
        sides = target if step == STEPS[-1] else sides_of(states, matrices, layers)
        pairs = {name: list(map(Pair, sides[name], target[name])) for name in sides}
        ranks = {
            f"{name}.weights": effective_rank.make(spectrum).value / len(spectrum)
            for name, weight in states["weights"].items()
            if not isinstance(spectrum := singular_values(weight), Reading)
        }
        values[f"step_{step} cka"] = {name: cka.make(pair[0])["biased"].value for name, pair in pairs.items()}
        values[f"step_{step} pwcca"] = {name: pwcca.make(pair[1])[""].value for name, pair in pairs.items()}
        values[f"step_{step} per"] = ranks
    return Taken(time.process_time() - started, values)


def sides_of(states: States, matrices: Matrices, layers: tuple[int, ...]) -> dict[str, tuple[Any, Any]]:
    """By component, a side of `cka` and a side of `pwcca`."""
    found = {name: items_of(matrix) for name, matrix in matrices(states, layers)}
    return {name: (items, view_of(items)) for name, items in found.items() if isinstance(items, Items)}


def states_of(run: Path, step: int) -> States:
    folder = run / "checkpoints" / f"step_{step}" / "learning_dynamics"
    return {kind: torch.load(folder / f"val_{kind}.pt") for kind in ("activations", "weights")}


def whole_series(run: Path, home: Path, *, every_two_layers: bool) -> Taken:
    """Our parts over the peer's checkpoints: every layer and matrix, our own passes over another text."""
    started = time.process_time()
    home.mkdir()
    series, text = Series.open(run / "checkpoints", home), Path(inspect.__file__)
    session = Session(Request(series, None, PARTS, text))
    session.units[:] = [unit for unit in session.units if every_two_layers or not unit.layers]
    measure_steps(session, [checkpoint.step for checkpoint in series.checkpoints], 1)
    compact_rows(home)
    seconds = time.process_time() - started
    rows = read_rows(home)
    assert set(rows["status"]) == {"ok"}, rows["status"].value_counts()
    similar = rows[rows["part"].isin(PARTS[:2]) & ~rows["component"].str.contains("kept")]
    numbers = {str(index): float(value) for index, value in similar["value"].items()}
    return Taken(seconds, {"similarities": numbers})


def above_one(taken: Taken) -> tuple[int, int, float]:
    """How many similarities are above 1, of how many, and the largest."""
    found = [v for key, values in taken.values.items() if not key.endswith("per") for v in values.values()]
    return sum(value > 1 for value in found), len(found), max(found)


def apart(here: Taken, there: Taken, metric: str) -> float:
    """The largest difference of the two on a metric, over what both have."""
    gaps = [
        abs(value - here.values[key][name])
        for key, values in there.values.items()
        if key.endswith(f" {metric}")
        for name, value in values.items()
    ]
    assert gaps
    return max(gaps)


def published_pwcca(here: Tensor, there: Tensor, *, whitened: bool) -> float:
    """The formula in float64, its directions whitened or, as in the published code, only rotated."""
    x, y = here.double(), there.double()
    mean = x.mean(0)
    covariance, width = torch.cov(torch.cat([x, y], dim=1).mT), x.shape[1]
    roots = [inverse_root(covariance[:width, :width]), inverse_root(covariance[width:, width:])]
    rotation, correlations, _ = torch.linalg.svd(roots[0] @ covariance[:width, width:] @ roots[1])
    centred = x - mean
    directions = centred @ roots[0] @ rotation if whitened else centred @ rotation + mean
    carried = torch.linalg.qr(directions)[0].mT @ (centred if whitened else x)
    weights = carried.abs().sum(1)
    return float(weights @ correlations / weights.sum())


def inverse_root(covariance: Tensor) -> Tensor:
    values, vectors = torch.linalg.eigh(covariance)
    return vectors / values.sqrt() @ vectors.mT


def claims_of_weights(run: Path, ours: Taken, theirs: Taken, steps: list[int]) -> list[Claim]:
    """Where the two PWCCA part: the same correlations, weighed by other directions."""
    target = dict(attention_outputs(states_of(run, STEPS[-1]), tuple(range(LAYERS))))
    formula: dict[bool, Values] = {False: {}, True: {}}
    for step in steps:
        matrices = dict(attention_outputs(states_of(run, step), tuple(range(LAYERS))))
        for way, found in formula.items():
            found[f"step_{step} pwcca"] = {
                name: published_pwcca(matrix, target[name], whitened=way) for name, matrix in matrices.items()
            }
    there, here = (Taken(0, formula[way]) for way in (False, True))
    return [
        Claim("PWCCA: its, and rotated directions apart by", apart(there, theirs, "pwcca"), "", 5e-3),
        Claim("PWCCA: ours, and whitened directions apart by", apart(here, ours, "pwcca"), "", 1e-2),
    ]


def claims_beside(name: str, ours: Taken, theirs: Taken) -> list[Claim]:
    (over, _, largest), (their_over, count, their_largest) = above_one(ours), above_one(theirs)
    faster = f"{theirs.seconds / ours.seconds:.1f} times faster"
    return [
        Claim(f"{name}: pico-analyze", theirs.seconds, "s CPU"),
        Claim(f"{name}: our parts on the same files", ours.seconds, "s CPU", None, faster),
        Claim(f"{name}: our values above 1", over, f"of {count}", 0, f"largest {largest:.7f}"),
        Claim(f"{name}: its values above 1", their_over, f"of {count}", None, f"largest {their_largest:.7f}"),
        Claim(f"{name}: CKA apart by", apart(ours, theirs, "cka"), "", AGREEMENT),
        Claim(f"{name}: effective ranks apart by", apart(ours, theirs, "per"), "of full rank", AGREEMENT),
        Claim(f"{name}: PWCCA apart by", apart(ours, theirs, "pwcca"), "", None, "weights differ"),
    ]


def claims_of_series(alone: Taken, paired: Taken, their_seconds: float) -> list[Claim]:
    over, count, largest = above_one(paired)
    faster = their_seconds / alone.seconds
    note = f"{faster:.0f} times faster; {faster * LAYERS / len(OV_LAYERS):.0f} a layer"
    return [
        Claim("the whole series, ours", alone.seconds, "s CPU", None, f"{LAYERS} layers, 84 matrices"),
        Claim("the same and every two layers, ours", paired.seconds, "s CPU"),
        Claim("pico-analyze, two layers", their_seconds, "s CPU"),
        Claim("ours / pico-analyze", alone.seconds / their_seconds, "ratio", 1 / FASTER, note),
        Claim("with every two layers / pico-analyze", paired.seconds / their_seconds, "ratio"),
        Claim("the whole series: values above 1", over, f"of {count}", 0, f"largest {largest:.7f}"),
    ]


def beside(analyze: Path, train: Path, folder: Path, steps: list[int]) -> list[Claim]:
    peer, every = Peer(analyze, train, folder), tuple(range(LAYERS))
    whole_series(peer.run, folder / "warm", every_two_layers=False)
    alone = whole_series(peer.run, folder / "alone", every_two_layers=False)
    paired = whole_series(peer.run, folder / "paired", every_two_layers=True)
    ours = {
        "OV circuits of 2 layers": from_its_files(peer.run, ov_circuits, OV_LAYERS, steps),
        "attention outputs of 12": from_its_files(peer.run, attention_outputs, every, steps),
    }
    suffixes = {"output_layer": "attention.o_proj", "value_layer": "attention.v_proj"}
    asked = (
        {"component_name": "ov_circuit", "layer_suffixes": suffixes, "layers": list(OV_LAYERS)},
        {"component_name": "simple", "layer_suffixes": "attention.o_proj", "layers": list(every)},
    )
    theirs = [peer.analysed(c["component_name"], c | {"data_type": "activations"}, steps) for c in asked]
    claims = claims_of_series(alone, paired, theirs[0].seconds * len(STEPS) / len(steps))
    for (name, here), there in zip(ours.items(), theirs, strict=True):
        claims += claims_beside(name, here, there)
    cheap = ours["attention outputs of 12"]
    return [*claims, *claims_of_weights(peer.run, cheap, theirs[1], steps)]


def measure(quick: bool) -> list[Claim]:
    torch.set_num_threads(1)
    named = [os.environ.get(name, "") for name in ("PICO_ANALYZE", "PICO_TRAIN")]
    if not all(named):
        print(
            "Nothing is claimed: clone github.com/pico-lm/pico-analyze and github.com/pico-lm/pico-train, "
            "and set PICO_ANALYZE and PICO_TRAIN to where they are."
        )
        return []
    with tempfile.TemporaryDirectory() as folder:
        analyze, train = (Path(name).resolve() for name in named)
        return beside(analyze, train, Path(folder), STEPS[:2] if quick else STEPS)


if __name__ == "__main__":
    conclude(__doc__, measure)

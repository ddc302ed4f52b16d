"""What measuring a checkpoint costs beside running the model.

Claims, on the recipe `letters` and its own stimuli (`heldout` 128 × 64 tokens, `repeated_tokens` 64 × 62):
  - one pass that reduces everything the catalogue's instruments and comparisons need costs at most twice the
    plain forward pass (fused attention, no gradient, the same tokens in the same batches), for each stimulus
    apart and for both together;
  - it takes at most a tenth of what a pass for each part by itself takes;
  - its peak memory grows with the depth of the model by no more than what it accumulates (one layer of one
    batch is alive at a time): a further layer adds at most 1.25 times the bytes of its accumulators.

Beside it the floor: the same passes with attention patterns shown to nobody. CPU time (`process_time`), one
thread, plain and fused interleaved, medians of ratios. Memory is the high-water mark of a fresh process for
each depth, less its mark after a plain pass.

OMP_NUM_THREADS=1 python benchmarks/fused_pass.py [--quick]
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from claims import Claim, conclude
from ontogeny.catalogue import DataFacts, part
from ontogeny.evidence import WITHOUT_PASS
from ontogeny.measure.asked import asked_parts
from ontogeny.measure.found import watchers_for
from ontogeny.measure.fused_pass import BATCH, Watcher, fused_pass
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.numerics.aims import previous_aim
from ontogeny.record.recipe import load_recipe
from ontogeny.record.training import Training, objective_of
from ontogeny.subject import Subject
from ontogeny.vocabulary import Stimulus

DEPTHS = (4, 8, 16)


def watched(stimulus: Stimulus) -> list[Watcher]:
    """Everything a pass over this stimulus serves in the whole catalogue."""
    return watchers_for(
        (asked.part, at)
        for asked in asked_parts()
        for at in asked.part.at
        if at not in ("", *WITHOUT_PASS) and stimulus.name in asked.part.stimuli
    )


def plain(subject: Subject, stimulus: Stimulus, taps: Any = None) -> None:
    for start in range(0, stimulus.shape[0], BATCH):
        subject.run(stimulus.tokens[start : start + BATCH], taps=taps)


def timed(call: Callable[[], Any]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def of_letters(folder: Path) -> tuple[Subject, list[Stimulus], DataFacts]:
    recipe = load_recipe("letters")
    objective = objective_of(recipe, folder)
    facts = objective.facts()
    stimuli = [part("stimulus", name).make(facts) for name in ("heldout", "repeated_tokens")]
    return Subject(Training(recipe, objective).model), stimuli, facts


def time_claims(subject: Subject, stimuli: list[Stimulus], facts: DataFacts, rounds: int) -> list[Claim]:
    watchers = [watched(stimulus) for stimulus in stimuli]
    seconds: dict[str, list[float]] = {}
    for number in range(rounds + 2):
        for stimulus, watching in zip(stimuli, watchers, strict=True):
            ways: dict[str, Callable[[], Any]] = {
                "plain": lambda s=stimulus: plain(subject, s),
                "fused": lambda s=stimulus, w=watching: fused_pass(subject, s, w, BATCH, facts),
                "shown": lambda s=stimulus: plain(subject, s, {"attention": lambda place, pattern: None}),
            }
            for way in sorted(ways, reverse=bool(number % 2)):
                found = timed(ways[way])
                if number > 1:  # the first rounds warm up
                    seconds.setdefault(f"{stimulus.name} {way}", []).append(found)
    both = {
        way: [sum(pair) for pair in zip(*(seconds[f"{s.name} {way}"] for s in stimuli), strict=True)]
        for way in ("plain", "fused", "shown")
    }
    claims = []
    for name in (*(stimulus.name for stimulus in stimuli), "both together"):
        of = {way: seconds.get(f"{name} {way}", both[way]) for way in both}
        claims += [
            Claim(
                f"{name}: fused / plain", ratio(of["fused"], of["plain"]), "ratio", 2.0, f"{rounds} rounds"
            ),
            Claim(f"{name}: patterns shown to nobody / plain", ratio(of["shown"], of["plain"]), "ratio"),
        ]
    whole = statistics.median(both["fused"])
    apart = sum(
        timed(lambda s=s, w=w: fused_pass(subject, s, w, BATCH, facts)) for s, w in one_by_one(stimuli)
    )
    return [*claims, Claim("all at once / one part at a time", whole / apart, "ratio", 0.1)]


def one_by_one(stimuli: list[Stimulus]) -> Iterable[tuple[Stimulus, list[Watcher]]]:
    """A pass over its stimuli for each part that needs one, with what it needs alone."""
    for asked in asked_parts():
        for stimulus in stimuli:
            sites = [at for at in asked.part.at if at not in ("", *WITHOUT_PASS)]
            if stimulus.name in asked.part.stimuli and sites:
                yield stimulus, watchers_for((asked.part, at) for at in sites)


def ratio(of: Iterable[float], to: Iterable[float]) -> float:
    return statistics.median(a / b for a, b in zip(of, to, strict=True))


def big_stimulus() -> Stimulus:
    """512 × 128 tokens: patterns of one layer of one batch are 8 MB, those of all would be 4 GB."""
    rng = torch.Generator().manual_seed(0)
    tokens = torch.randint(512, (512, 128), generator=rng)
    aims = {"previous": previous_aim(512, 128, rng)}
    weights = torch.ones(512, 128)
    weights[:, -1] = 0
    return Stimulus("heldout", tokens, weights, aims)


def counted(watcher: Watcher, found: list[int]) -> Watcher:
    """The same watcher, which notes how many bytes it accumulated at a place when it is finished."""

    def make() -> Any:
        reducer: Any = watcher.make()
        finish = reducer.finish
        reducer.finish = lambda state: (found.append(tensor_bytes(state)), finish(state))[1]
        return reducer

    return replace(watcher, make=make)


def tensor_bytes(state: Any) -> int:
    """What tensors within a state hold, each once; what a state refers to may refer back to it."""
    held: dict[int, int] = {}
    seen: set[int] = set()
    waiting = [state]
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, type | Enum | Stimulus):
            continue
        seen.add(id(value))
        if isinstance(value, Tensor):
            held[value.untyped_storage().data_ptr()] = value.numel() * value.itemsize
        elif isinstance(value, tuple | list):
            waiting += value
        elif isinstance(value, Mapping):
            waiting += value.values()
        else:
            waiting += getattr(value, "__dict__", {}).values()
    return sum(held.values())


def memory_of(depth: int) -> None:
    """In a fresh process: what one pass adds to the high-water mark, and the bytes accumulated meanwhile."""
    torch.set_num_threads(1)
    config = DecoderConfig(vocabulary=512, context=128, width=128, layers=depth, heads=8)
    subject, stimulus = Subject(Decoder(config)), big_stimulus()
    found: list[int] = []
    watchers = [counted(watcher, found) for watcher in watched(stimulus)]
    plain(subject, stimulus)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fused_pass(subject, stimulus, watchers)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"grown": grown / 1024, "accumulated": sum(found) / 2**20}))


def memory_claims() -> list[Claim]:
    # Freed blocks go back at once, so that the mark shows what was alive and not how the heap was cut.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    grown, accumulated = {}, {}
    for depth in DEPTHS:
        command = [sys.executable, __file__, "--child", str(depth)]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
        found = json.loads(answer.stdout)
        grown[depth], accumulated[depth] = found["grown"], found["accumulated"]
    first, last = DEPTHS[0], DEPTHS[-1]
    kept = (accumulated[last] - accumulated[first]) / (last - first)
    layer = (grown[last] - grown[first]) / (last - first)
    return [
        *(Claim(f"memory: added by the pass, {d} layers", grown[d], "MiB") for d in DEPTHS),
        Claim("memory: accumulators of a layer", kept, "MiB", None, "512 × 128 tokens, 8 heads"),
        Claim("memory: added by a further layer", layer, "MiB", 1.25 * kept, "its patterns: 256 MiB"),
    ]


def measure(quick: bool) -> list[Claim]:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        subject, stimuli, facts = of_letters(Path(name))
        return [*memory_claims(), *time_claims(subject, stimuli, facts, 6 if quick else 40)]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        memory_of(int(sys.argv[2]))
    else:
        conclude(__doc__, measure)

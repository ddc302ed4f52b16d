"""What recording costs a training loop.

Claims, on the `letters` model (Decoder, width 128, 4 layers, 4 heads, vocabulary 512, context 64, batch 16,
AdamW, clipped at 1), every matrix on its own:
  - the Recorder's own CPU time a step (norms, digest, journal) is at most 1.5 % of the rest of the step;
  - recorded steps against plain ones, interleaved: the upper 95 % bound of the median ratio is at most 1.03;
  - a record of 20 metrics costs at most 50 µs beside norms and digest, in a loop that does nothing else
    (between training steps, with cold caches and 60 metrics by module, it is part of the own time above).
On a GPT of 0.47 M parameters in plain PyTorch: at most 1.05 times the plain step.

Beside them: the floor (the same norms by hand and one xxh3 of all bytes, nothing kept), TrainScope 1.8.1 in
an environment of its own (made in `.bench/`, by pip, at the first run) on the same GPT, and, without a bound,
what checkpoints cost. All ratios are of CPU time (`process_time`, helper threads included), taken in one run
with the arms interleaved; the Recorder's own time is `thread_time` between hooks around its hooks.

OMP_NUM_THREADS=1 python benchmarks/recorder_overhead.py [--quick]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import xxhash
from torch import Tensor, nn

from claims import ROOT, Claim, conclude, median_most
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.record.digests import ModelDigest
from ontogeny.record.recorder import Recorder
from ontogeny.vocabulary import Scheduled
from plain_gpt import BATCH, CONTEXT, GPT, VOCABULARY, Arm, batches, interleaved

ENVIRONMENT = ROOT / ".bench" / "trainscope"
LETTERS = DecoderConfig(vocabulary=512, context=64, width=128, layers=4, heads=4)
SCHEDULE = Scheduled(last=1000, every=32, dense_until=512)
TOKENS = 16 * 64
WARM_UP = 10


class Recorded:
    """A model under a Recorder; `own` are the CPU seconds of this thread that it takes itself each step."""

    def __init__(self, path: Path, make: Callable[[], nn.Module], clip: float | None = None) -> None:
        model, optimizer = fresh(make)
        self.own: list[float] = []
        self._spent = self._started = 0.0
        optimizer.register_step_pre_hook(self._start)
        optimizer.register_step_post_hook(self._start)
        self.recorder = Recorder(path, model, optimizer, checkpoints=frozenset())
        optimizer.register_step_pre_hook(self._stop)
        optimizer.register_step_post_hook(self._stop)
        self.arm = Arm(model, optimizer, after=self._record, clip=clip)

    def _start(self, *_: Any) -> None:
        self._started = time.thread_time()

    def _stop(self, *_: Any) -> None:
        self._spent += time.thread_time() - self._started

    def _record(self, loss: Tensor, norm: Tensor | None) -> None:
        self._start()
        self.recorder.step(loss, tokens=TOKENS, gradient_norm=norm)
        self._stop()
        self.own.append(self._spent)
        self._spent = 0.0


class Floor:
    """Norms of gradients, updates and weights and one digest of all weights, as short as torch allows."""

    def __init__(self, make: Callable[[], nn.Module], clip: float | None = None) -> None:
        model, optimizer = fresh(make)
        self.live = list(model.parameters())
        self.parameters = [p.detach() for p in self.live]
        self.before = [p.clone() for p in self.parameters]
        self.views = [memoryview(p.view(-1).view(torch.uint8).numpy()) for p in self.parameters]
        self.own: list[float] = []
        self._spent = 0.0
        self.arm = Arm(model, optimizer, before=self._gradients, after=self._updates, clip=clip)

    def _gradients(self, _: Tensor) -> None:
        started = time.thread_time()
        torch.stack(torch._foreach_norm([p.grad for p in self.live])).tolist()
        self._spent = time.thread_time() - started

    def _updates(self, *_: Any) -> None:
        started = time.thread_time()
        torch._foreach_sub_(self.before, self.parameters)
        changes = torch._foreach_norm(self.before)
        torch._foreach_copy_(self.before, self.parameters)
        torch.stack([*changes, *torch._foreach_norm(self.parameters)]).tolist()
        state = xxhash.xxh3_64()
        for view in self.views:
            state.update(view)
        state.intdigest()
        self.own.append(self._spent + time.thread_time() - started)


def fresh(make: Callable[[], nn.Module]) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = make()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3)


def ratios(seconds: dict[str, list[float]], arm: str) -> list[float]:
    return [other / plain for other, plain in zip(seconds[arm], seconds["plain"], strict=True)]


def own_share(subject: Recorded | Floor, next_batch: Callable[[], Tensor], steps: int) -> tuple[float, float]:
    """Median of its own time over the rest of the step, trained alone; and that time in seconds."""
    subject.own.clear()
    whole = interleaved({"it": subject.arm}, next_batch, steps)["it"]
    shares = [own / (step - own) for own, step in zip(subject.own, whole, strict=True)]
    return statistics.median(shares), statistics.median(subject.own)


def on_letters(folder: Path, pairs: int) -> list[Claim]:
    make = partial(Decoder, LETTERS)
    recorded, floor = Recorded(folder / "letters", make, clip=1.0), Floor(make, clip=1.0)
    arms = {"plain": Arm(*fresh(make), clip=1.0), "recorded": recorded.arm, "floor": floor.arm}
    next_batch = batches(LETTERS.vocabulary, LETTERS.context, 16)
    interleaved(arms, next_batch, WARM_UP)
    seconds = interleaved(arms, next_batch, pairs)
    median, most = median_most(ratios(seconds, "recorded"))
    by_hand, _ = median_most(ratios(seconds, "floor"))
    share, own = own_share(recorded, next_batch, pairs)
    least, bare = own_share(floor, next_batch, pairs)
    plain = statistics.median(seconds["plain"])
    return [
        Claim("letters: a plain step", 1e3 * plain, "ms CPU"),
        Claim("letters: the Recorder's own time", 100 * share, "% of step", 1.5, f"{1e6 * own:.0f} µs"),
        Claim("letters: the floor's own time", 100 * least, "% of step", None, f"{1e6 * bare:.0f} µs"),
        Claim("letters: recorded / plain, median", median, "ratio", None, f"{pairs} pairs"),
        Claim("letters: recorded / plain, upper 95 % bound", most, "ratio", 1.03),
        Claim("letters: floor / plain, median", by_hand, "ratio"),
        *checkpoint_cost(recorded, next_batch, plain),
    ]


def checkpoint_cost(recorded: Recorded, next_batch: Callable[[], Tensor], plain: float) -> list[Claim]:
    """How long a checkpoint holds the loop up when none is in flight, and all it costs until committed."""
    recorder, stalls, costs = recorded.recorder, [], []
    for _ in range(9):
        recorded.arm.step(next_batch())
        folder = recorder.run.path / "checkpoints" / f"{recorder.counters.step:06d}"
        wall, cpu = time.perf_counter(), time.process_time()
        recorder.checkpoint()
        stalls.append(time.perf_counter() - wall)
        while not (folder / "manifest.json").exists():
            time.sleep(0.01)
        costs.append(time.process_time() - cpu)
    stall, cost = statistics.median(stalls), statistics.median(costs)
    count = len(SCHEDULE.steps())
    share = 100 * count * cost / (SCHEDULE.last * plain)
    return [
        Claim("checkpoint: holds the loop up", 1e3 * stall, "ms wall", None, f"{stall / plain:.2f} steps"),
        Claim("checkpoint: until committed", 1e3 * cost, "ms CPU", None, f"{cost / plain:.2f} steps"),
        Claim("checkpoint: those of `letters`", share, "% of run", None, f"{count} in {SCHEDULE.last} steps"),
    ]


def record_cost(folder: Path, records: int) -> list[Claim]:
    """A record of 20 metrics in a loop that does nothing else, less the digest, which is timed by itself."""
    model, optimizer = fresh(partial(Decoder, LETTERS))
    recorder = Recorder(folder / "records", model, optimizer, checkpoints=frozenset())
    digest = ModelDigest(model)
    more = {f"metric/{number}": 0.1 * number for number in range(14)}
    digests, calls = [], []
    for _ in range(records):
        started = time.thread_time()
        digest.with_checks()
        middle = time.thread_time()
        recorder.step(1.0, tokens=TOKENS, **more)
        calls.append(time.thread_time() - middle)
        digests.append(middle - started)
    beyond = statistics.median(calls) - statistics.median(digests)
    return [Claim("a record of 20 metrics, without norms and digest", 1e6 * beyond, "µs CPU", 50)]


class Peer:
    """TrainScope's process: asked for rounds, it answers with the CPU seconds of its arms."""

    def __init__(self) -> None:
        python = ENVIRONMENT / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
            wanted = ["torch==2.13.0", "trainscope==1.8.1", "-c", str(ROOT / "constraints.txt")]
            subprocess.run([str(python), "-m", "pip", "install", "-q", *wanted], check=True)
        script = str(Path(__file__).resolve().parent / "trainscope_side.py")
        self.process = subprocess.Popen(
            [str(python), script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def rounds(self, count: int) -> dict[str, list[float]]:
        assert self.process.stdin
        assert self.process.stdout
        print(count, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def beside_trainscope(folder: Path, blocks: int, size: int = 20) -> list[Claim]:
    """The same GPT here and there, in turns of `size` rounds."""
    arms = {
        "plain": Arm(*fresh(GPT)),
        "recorded": Recorded(folder / "gpt", GPT).arm,
        "floor": Floor(GPT).arm,
    }
    next_batch = batches(VOCABULARY, CONTEXT, BATCH)
    peer = Peer()
    here: dict[str, list[float]] = {}
    there: dict[str, list[float]] = {}
    for block in range(blocks + 1):
        for side, found in ((here, interleaved(arms, next_batch, size)), (there, peer.rounds(size))):
            for name, seconds in found.items() if block else ():  # the first block warms up
                side.setdefault(name, []).extend(seconds)
    peer.close()
    ours, most = median_most(ratios(here, "recorded"))
    default, lean, floor = (
        median_most(ratios(side, arm))[0]
        for side, arm in ((there, "default"), (there, "lean"), (here, "floor"))
    )
    pairs = f"{blocks * size} pairs"
    return [
        Claim("GPT: a plain step", 1e3 * statistics.median(here["plain"]), "ms CPU"),
        Claim("GPT: recorded / plain, median", ours, "ratio", 1.05, pairs),
        Claim("GPT: recorded / plain, upper 95 % bound", most, "ratio"),
        Claim("GPT: floor / plain, median", floor, "ratio"),
        Claim("GPT: TrainScope, default / plain", default, "ratio", None, f"{pairs}, of its own plain step"),
        Claim("GPT: TrainScope, leanest / plain", lean, "ratio", None, "norms every step, nothing else"),
    ]


def measure(quick: bool) -> list[Claim]:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            *on_letters(folder, 40 if quick else 300),
            *record_cost(folder, 200 if quick else 2000),
            *beside_trainscope(folder, 2 if quick else 15),
        ]


if __name__ == "__main__":
    conclude(__doc__, measure)

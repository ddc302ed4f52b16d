"""What it takes to enter any step of a run again.

Claims, on the `letters` model (Decoder, width 128, 4 layers, 4 heads, vocabulary 512, context 64, batch 16,
AdamW, clipped at 1) in a plain loop with a tape, 1,000 steps and 5 checkpoints:
  - every one of the 1,000 steps can be entered, for at most 1/100 of the bytes that saving each would take
    (checkpoints, tape and journal together);
  - a replayed step, compared with its recorded digest, takes at most 1/0.9 of the CPU time of a recorded one
    (medians, in one process; the Recorder's own work is in both).
A replay that is not exact at every step fails the benchmark. With --quick the bytes have no bound: five of 40
steps are kept, so they cannot be less than an eighth.

OMP_NUM_THREADS=1 python benchmarks/replay.py [--quick]
"""

import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from claims import Claim, conclude
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.record.recorder import Recorder
from ontogeny.replay import at
from ontogeny.store.run import Run
from plain_gpt import batches

LETTERS = DecoderConfig(vocabulary=512, context=64, width=128, layers=4, heads=4)
CHECKPOINTS = 5


def advance(state: Any, tokens: torch.Tensor) -> torch.Tensor:
    model, optimizer = state["model"], state["optimizer"]
    optimizer.zero_grad(set_to_none=True)
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss


def fresh() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = Decoder(LETTERS)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3)


def recorded(path: Path, steps: int) -> tuple[Run, list[float]]:
    """A run, and the CPU seconds of each of its steps; checkpoints are written at the ends of stretches."""
    model, optimizer = fresh()
    next_batch = batches(LETTERS.vocabulary, LETTERS.context, 16)
    kept = frozenset(range(0, steps + 1, steps // (CHECKPOINTS - 1)))
    seconds = []
    with Recorder(path, model, optimizer, advance=advance, tape=True, checkpoints=kept) as recorder:
        for _ in range(steps):
            tokens = next_batch()
            started = time.process_time()
            recorder.advance(tokens, tokens=tokens.numel())
            seconds.append(time.process_time() - started)
    return Run.open(path), seconds


def replayed(run: Run, steps: int) -> list[float]:
    """CPU seconds of each step of a replay from the start, compared at every step."""
    model, optimizer = fresh()
    moments: list[float] = []
    found = at(
        run,
        steps,
        start=run.checkpoints[0],
        advance=advance,
        model=model,
        optimizer=optimizer,
        visit=lambda loop: moments.append(time.process_time()),
    )
    assert found.exact, "a replay that is not exact is none"
    assert found.compared == steps + 1
    return [after - before for before, after in pairwise(moments)]


def measure(quick: bool) -> list[Claim]:
    torch.set_num_threads(1)
    steps = 40 if quick else 1000
    with tempfile.TemporaryDirectory() as name:
        run, first = recorded(Path(name) / "run", steps)
        again = replayed(run, steps)
        bytes_on_disk = run.disk_bytes()
        assert len(run.checkpoints) == CHECKPOINTS
        taken = sum(bytes_on_disk[kind] for kind in ("checkpoints", "tape", "journal"))
        one = bytes_on_disk["checkpoints"] / CHECKPOINTS
        beyond = (bytes_on_disk["tape"] + bytes_on_disk["journal"]) / steps
        slower = statistics.median(again) / statistics.median(first)
        return [
            Claim("a checkpoint", one / 1e6, "MB"),
            Claim("tape and journal of a step", beyond / 1e3, "kB"),
            Claim(
                "bytes a step / a checkpoint",
                taken / steps / one,
                "ratio",
                None if quick else 0.01,
                f"{steps} steps",
            ),
            Claim("a recorded step", 1e3 * statistics.median(first), "ms CPU"),
            Claim("a replayed step / a recorded one", slower, "ratio", 1 / 0.9, "medians"),
        ]


if __name__ == "__main__":
    conclude(__doc__, measure)

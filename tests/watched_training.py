"""A training loop under a Recorder, as a process: `python watched_training.py RUN END`.

It trains until the file END is there. Each record has the processor time of its step and when it ended, on
the clock that all processes share.
"""

import sys
import time
from pathlib import Path

import torch
from torch import nn

from ontogeny.record.recorder import Recorder


def main(path: str, end: Path) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 64))
    optimizer = torch.optim.AdamW(model.parameters())
    with Recorder(path, model, optimizer, checkpoints=range(0, 10**9, 2000)) as recorder:
        while not end.exists():
            started = time.thread_time()
            batch = torch.randn(64, 64)
            loss = (model(batch) - batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            recorder.step(loss, tokens=64, cpu=time.thread_time() - started, ended=time.monotonic())


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

"""TrainScope's half of `recorder_overhead.py`, run in TrainScope's own environment; not run by hand.

Trains the plain GPT without and with TrainScope, interleaved, `rounds` steps for each line on standard
input, and answers each line with the CPU seconds of every step as JSON.
"""

import json
import os
import sys
import tempfile

import torch
from trainscope import TrainScope, TrainScopeConfig

from plain_gpt import BATCH, CONTEXT, GPT, VOCABULARY, Arm, batches, interleaved

NEVER = 10**9
#: Its leanest way that still records per-parameter norms at every step: no activations, no histograms.
LEAN = {
    "activation_layer_filter": [],
    "activation_metrics_every_n_steps": NEVER,
    "histogram_every_n_steps": NEVER,
    "compaction_every_n_steps": NEVER,
    "track_memory": False,
}


def arm(folder: str, options: dict | None) -> Arm:
    torch.manual_seed(0)
    model = GPT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    if options is None:
        return Arm(model, optimizer)
    name = "lean" if options else "default"
    config = TrainScopeConfig(run_dir=folder, run_name=name, **options)
    scope = TrainScope(model, optimizer, config=config).attach()
    return Arm(model, optimizer, before=lambda loss: scope.step(loss.item()))


if __name__ == "__main__":
    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what TrainScope prints must not come between the answers
    with tempfile.TemporaryDirectory() as folder:
        arms = {"plain": arm(folder, None), "default": arm(folder, {}), "lean": arm(folder, LEAN)}
        next_batch = batches(VOCABULARY, CONTEXT, BATCH)
        for line in sys.stdin:
            print(json.dumps(interleaved(arms, next_batch, int(line))), file=answers, flush=True)

"""Twenty random steps of a run of 2,000, restored in a fresh process from five checkpoints."""

import json
import random
import subprocess
import sys

import pytest

from ontogeny.record.recipe import load_recipe
from ontogeny.record.train import train

pytestmark = pytest.mark.slow

CHILD = """
import json, sys
import torch
torch.set_num_threads(1)
from ontogeny.record.digests import ModelDigest
from ontogeny.replay import at
found = {}
for step in json.loads(sys.argv[2]):
    replayed = at(sys.argv[1], step)
    found[step] = [ModelDigest(replayed.training.model)(), replayed.compared, replayed.exact]
print(json.dumps(found))
"""


@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_twenty_random_steps_of_two_thousand(tmp_path, dropout):
    overrides = [f"model.dropout={dropout}", "recording.explicit=[0, 500, 1000, 1500, 2000]"]
    run = train(load_recipe("induction", overrides), tmp_path / "run", grade=False)
    assert [checkpoint.step for checkpoint in run.checkpoints] == [0, 500, 1000, 1500, 2000]
    steps = sorted(random.Random(run.id).sample(range(2001), 20))
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(run.path), json.dumps(steps)],
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
    )
    assert child.returncode == 0, child.stderr
    found = json.loads(child.stdout)
    recorded = run.telemetry("model_digest").drop_duplicates("step", keep="last")
    truth = dict(zip(recorded["step"].tolist(), map(int, recorded["model_digest"].tolist()), strict=True))
    for step in steps:
        digest, compared, exact = found[str(step)]
        assert digest == truth[step], f"step {step}"
        assert exact
        assert compared == step % 500 + 1 or step == 2000

"""A run of forty tiny steps, recorded once."""

import pytest

from ontogeny.record.train import train
from tiny_recipe import tiny

CLIPPED = {"clip": 1.0, "steps": 40}
SCHEDULE = {"name": "cosine", "warmup": 5}
RECORDING = {"every": 10, "dense_until": 8}


def forty_steps(**tables):
    """The tiny recipe, clipped and scheduled, forty steps long."""
    training = {**CLIPPED, **tables.pop("training", {})}
    return tiny(training=training, schedule=SCHEDULE, recording=RECORDING, **tables)


#: What a step may be made of; each must replay, resume and branch exactly.
KINDS = {
    "plain": {},
    "dropout": {"model": {"dropout": 0.2}},
    "accumulation": {"training": {"accumulation": 4}},
    "bfloat16": {"training": {"autocast": "bfloat16"}},
    "momentum": {"optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9}},
}


@pytest.fixture(scope="session", params=KINDS)
def run(request, tmp_path_factory):
    """One finished run of each kind."""
    made = forty_steps(**KINDS[request.param])
    return train(made, tmp_path_factory.mktemp(request.param) / "run", grade=False)


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    """A finished run of the plainest kind."""
    return train(forty_steps(), tmp_path_factory.mktemp("plain") / "run", grade=False)

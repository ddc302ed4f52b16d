"""A run of forty tiny steps, recorded once."""

import pytest

from ontogeny.record.recipe import Recipe
from ontogeny.record.train import train

TABLES = {
    "title": "tiny",
    "model": {"width": 16, "layers": 1, "heads": 2},
    "objective": {
        "name": "copied_segments",
        "vocabulary": 12,
        "context": 16,
        "batch": 4,
        "shortest": 3,
        "longest": 6,
    },
    "optimizer": {"name": "adamw", "lr": 0.01},
    "schedule": {"name": "cosine", "warmup": 5},
    "training": {"steps": 40, "clip": 1.0},
    "recording": {"every": 10, "dense_until": 8, "evaluate": 8},
}


def tiny(**tables) -> Recipe:
    merged = dict(TABLES)
    for name, table in tables.items():
        merged[name] = {**TABLES.get(name, {}), **table}
    return Recipe.from_document(merged)


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
    made = tiny(**KINDS[request.param])
    return train(made, tmp_path_factory.mktemp(request.param) / "run", grade=False)


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    """A finished run of the plainest kind."""
    return train(tiny(), tmp_path_factory.mktemp("plain") / "run", grade=False)

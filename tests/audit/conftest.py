"""One small training and its twin of another seed, with twenty checkpoints each, and copies to spoil."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from safetensors.torch import save_file
from torch import Tensor

from ontogeny.audit.finding import Finding
from ontogeny.audit.imprint import Imprint, _content, _print
from ontogeny.audit.weights import weight_findings
from trained_checkpoints import train

Series = dict[int, dict[str, Tensor]]
STEPS = list(range(0, 191, 10))
#: The second shard of every checkpoint that `saved` writes.
SHARD = "blocks.1."


@pytest.fixture(scope="session")
def clean() -> Series:
    """AdamW with warm-up and cosine decay, twenty checkpoints."""
    return train(0, "adamw", "cosine", STEPS)


@pytest.fixture(scope="session")
def twin() -> Series:
    """The same recipe from another seed."""
    return train(1, "adamw", "cosine", STEPS)


def imprints_of(series: Mapping[int, Mapping[str, Tensor]]) -> list[Imprint]:
    """Imprints of state dicts."""
    found = []
    for step, weights in series.items():
        tensors = {name: _print(name, tensor, "") for name, tensor in weights.items()}
        found.append(Imprint(step, str(step), content=_content(tensors), tensors=tensors))
    return found


@pytest.fixture
def found() -> Callable[[Mapping[int, Mapping[str, Tensor]]], list[Finding]]:
    """What the audit of some state dicts finds."""
    return lambda series: list(weight_findings("series", imprints_of(series)))


@pytest.fixture
def saved(tmp_path) -> Callable[[Mapping[int, Mapping[str, Tensor]], str], Path]:
    """Write state dicts as a folder of checkpoints of two shards each."""

    def save(series: Mapping[int, Mapping[str, Tensor]], name: str) -> Path:
        for step, weights in series.items():
            folder = tmp_path / name / f"checkpoint-{step}"
            folder.mkdir(parents=True)
            (folder / "config.json").write_text(json.dumps({"model_type": "small"}))
            files = {
                tensor: f"model-0000{1 + tensor.startswith(SHARD)}-of-00002.safetensors" for tensor in weights
            }
            for file in set(files.values()):
                save_file({n: t for n, t in weights.items() if files[n] == file}, folder / file)
            index = {"metadata": {}, "weight_map": files}
            (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        return tmp_path / name

    return save

"""Whether the checkpoints of a folder are one model: what their config.json files say."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ontogeny import formats
from ontogeny.series.checkpoint import LocalCheckpoint, SeriesCheckpoint

#: What a tool writes about itself; it may change while a model is trained.
ABOUT_THE_TOOL = frozenset({"transformers_version", "_name_or_path", "torch_dtype", "dtype", "use_cache"})


def differing_configurations(by_step: Mapping[int, SeriesCheckpoint]) -> list[str]:
    """A note if config.json files differ in anything but the tool: models of several kinds in one series."""
    groups: dict[str, list[int]] = {}
    for step in sorted(by_step):
        checkpoint = by_step[step]
        if isinstance(checkpoint, LocalCheckpoint) and (said := _configuration(checkpoint.path)):
            groups.setdefault(said, []).append(step)
    if len(groups) < 2:
        return []
    spans = [f"{steps[0]} to {steps[-1]}" if len(steps) > 1 else str(steps[0]) for steps in groups.values()]
    return [
        f"the checkpoints have {len(groups)} configurations, at steps {'; '.join(spans)}: several models?"
    ]


def cautions(by_step: Mapping[int, SeriesCheckpoint]) -> list[str]:
    """What one should know of the values in the checkpoints' formats, each once."""
    local = [one for one in by_step.values() if isinstance(one, LocalCheckpoint)]
    return sorted({said for one in local if (said := formats.caution(one.path))})


def _configuration(path: Path) -> str:
    try:
        config: Any = json.loads((path / "config.json").read_bytes())
    except (OSError, ValueError):  # whoever loads it will say what is wrong
        return ""
    kept = (
        {k: v for k, v in config.items() if k not in ABOUT_THE_TOOL} if isinstance(config, dict) else config
    )
    return json.dumps(kept, sort_keys=True)

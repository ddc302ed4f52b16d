"""BigScience's `*_agg.json`: one file a series, `{tokens, checkpoints, results: task -> metric -> list}`."""

from collections.abc import Iterator, Mapping
from typing import Any

from ontogeny.errors import Damaged


def is_aggregate(document: Mapping[str, Any]) -> bool:
    """Whether a JSON document lists checkpoints and, for every task and metric, one number a checkpoint."""
    return isinstance(document.get("checkpoints"), list) and isinstance(document.get("results"), dict)


def points(document: Mapping[str, Any], where: str) -> Iterator[tuple[int, int | None, dict[str, dict]]]:
    """Step, tokens (None if not given) and task -> metric -> number of every checkpoint, in file order.

    Raises Damaged if a list is not as long as the list of checkpoints.
    """
    steps = document["checkpoints"]
    tokens = document.get("tokens") or [None] * len(steps)
    lists = {"tokens": tokens}
    for task, metrics in document["results"].items():
        lists |= {f"{task}.{metric}": values for metric, values in metrics.items()}
    for name, values in lists.items():
        if not isinstance(values, list) or len(values) != len(steps):
            raise Damaged(
                f"{where}: {name} does not have one entry a checkpoint",
                received=f"{len(values) if isinstance(values, list) else type(values).__name__}",
                allowed=f"a list of {len(steps)}",
            )
    for index, (step, seen) in enumerate(zip(steps, tokens, strict=True)):
        results = {
            task: {metric: values[index] for metric, values in metrics.items()}
            for task, metrics in document["results"].items()
        }
        yield int(step), None if seen is None else int(seen), results

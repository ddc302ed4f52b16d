"""A recipe of a few steps that take a millisecond each."""

from typing import Any

from ontogeny.record.recipe import Recipe

TABLES: dict[str, Any] = {
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
    "training": {"steps": 24},
    "recording": {"every": 6, "dense_until": 4, "evaluate": 8},
}


def tiny(**tables: Any) -> Recipe:
    """The tiny recipe with some values changed: `tiny(training={"steps": 12})`."""
    merged = dict(TABLES)
    for name, given in tables.items():
        merged[name] = {**TABLES.get(name, {}), **given} if isinstance(given, dict) else given
    return Recipe.from_document(merged)

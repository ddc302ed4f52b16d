"""What a run was configured with: dotted keys, its seed, and the hash that runs of one condition share."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

#: What an identity says that is no configuration.
STATED = frozenset(
    {
        "format",
        "id",
        "created",
        "grade",
        "environment",
        "parameters",
        "title",
        "tokenizer",
        "sources",
        "recipe",
    }
    | {"recipe_hash", "parent", "interventions", "until", "vocabulary", "context", "steps", "expected"}
)
#: Words for readers.
PROSE = ("title", "expected")
SEEDS = ("training.seed", "seed")


def configuration(identity: Mapping[str, Any]) -> dict[str, Any]:
    """The recipe's values under dotted keys; without a recipe, whatever else the identity states."""
    recipe = identity.get("recipe")
    if isinstance(recipe, Mapping):
        return {key: value for key, value in dotted(recipe) if key not in PROSE}
    return dict(dotted({key: value for key, value in identity.items() if key not in STATED}))


def dotted(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested tables under dotted keys; lists are values."""
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from dotted(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def seed_of(config: Mapping[str, Any]) -> int | None:
    """The seed, by the recipe's key or one that ends in it."""
    for key, value in config.items():
        if (key in SEEDS or key.endswith(".seed")) and isinstance(value, int):
            return value
    return None


def interventions_of(identity: Mapping[str, Any]) -> list[str]:
    """Interventions as texts, with their windows."""
    found = []
    for entry in identity.get("interventions") or ():
        if isinstance(entry, Mapping):
            end = "" if entry.get("end") is None else f" to {entry['end']}"
            sham = " (sham)" if entry.get("sham") else ""
            found.append(f"{entry.get('spec', '?')} from {entry.get('start', '?')}{end}{sham}")
    return found


def group_of(identity: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """The hash of everything but the seed: what runs of one condition have in common.

    Where nothing is known of its configuration, a run is by itself.
    """
    rest = {k: v for k, v in config.items() if k not in SEEDS and not k.endswith(".seed")}
    rest = rest or {"run": identity.get("id")}
    forked = identity.get("parent", {}).get("step") if isinstance(identity.get("parent"), Mapping) else None
    text = json.dumps([rest, interventions_of(identity), forked], sort_keys=True, default=str)
    return hashlib.blake2s(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()

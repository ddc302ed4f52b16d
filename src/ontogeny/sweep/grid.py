"""Grids: one recipe under several seeds and settings, as a list of named recipes, all checked at once."""

import itertools
import math
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xxhash

from ontogeny.errors import BadRecipe
from ontogeny.recipes import shipped
from ontogeny.record.recipe import Recipe, load_recipe

#: A name that every file system takes as it is and that no two spellings share; others gain a hash.
PLAIN_NAME = re.compile(r"[a-z0-9_][a-z0-9_.=+-]*[a-z0-9_]")
LONGEST_NAME = 80
SEED = "training.seed"
_KEYS = "recipe, seeds and the table grid"


@dataclass(frozen=True)
class Planned:
    """One run to be made: the name of its folder, and its recipe."""

    name: str
    recipe: Recipe


def seeds(text: str) -> tuple[int, ...]:
    """Seeds from text: `0:10` is 0 to 9, `3,5,8` those three; both may be mixed. BadRecipe otherwise."""
    found: list[int] = []
    for item in text.split(","):
        first, colon, end = (part.strip() for part in item.partition(":"))
        if not first.isdecimal() or (colon and not end.isdecimal()):
            raise BadRecipe(
                "seeds that cannot be read",
                received=repr(text),
                allowed="whole numbers and ranges, such as 0:10 (ten seeds) or 3,5,8",
            )
        found += range(int(first), int(end)) if colon else [int(first)]
    if not found or len(set(found)) < len(found):
        raise BadRecipe(
            "seeds that are none, or the same twice", received=repr(text), remedy="give every seed once"
        )
    return tuple(found)


def seeded(recipe: str | Path, chosen: Sequence[int], overrides: Sequence[str] = ()) -> list[Planned]:
    """One recipe under several seeds, in folders `seed-0`, `seed-1` …"""
    return [Planned(f"seed-{seed}", load_recipe(recipe, [*overrides, f"{SEED}={seed}"])) for seed in chosen]


def load_grid(path: str | Path, overrides: Sequence[str] = ()) -> list[Planned]:
    """Every combination of a grid file, in the order of its lists, the last one fastest.

        recipe = "induction"              a shipped recipe, or a file beside this one
        seeds = "0:4"                     optional
        [grid]
        optimizer.lr = [1e-3, 3e-3]

    A run's name tells its place in the grid, `lr=0.003-seed=2`: the last words of the keys, or whole keys
    where two end alike. It does not depend on the other values of the grid, so that a grid may grow.
    BadRecipe, with the recipe's own words, for a key or value that is wrong in any combination.
    """
    path = Path(path)
    document = _document(path)
    axes = _axes(document.get("grid", {}))
    if "seeds" in document:
        if SEED in axes:
            raise BadRecipe(f"{path} gives seeds twice", received=f"seeds, and {SEED} in grid")
        axes[SEED] = list(seeds(str(document["seeds"])))
    if not axes:
        raise BadRecipe(f"{path} spans no grid", allowed=_KEYS, remedy="give [grid] lists, or seeds")
    recipe = _recipe_of(path, document)
    plan = []
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        settings = [f"{key}={toml_value(value)}" for key, value in chosen.items()]
        plan.append(Planned(name_of(chosen), load_recipe(recipe, [*overrides, *settings])))
    _require_distinct(plan, path)
    return plan


def name_of(chosen: Mapping[str, Any]) -> str:
    """A folder's name for one combination of settings: readable, and safe on every file system.

    A name that is too long, or needs other characters than small letters, digits and `_.=+-`, is
    simplified and ends in eight hex digits of the hash of what it stands for.
    """
    last = Counter(key.rpartition(".")[2] for key in chosen)
    words = []
    for key, value in chosen.items():
        short = key.rpartition(".")[2]
        shown = value if isinstance(value, str) else toml_value(value)
        words.append(f"{short if last[short] == 1 else key}={shown}")
    name = "-".join(words)
    if PLAIN_NAME.fullmatch(name) and len(name) <= LONGEST_NAME:
        return name
    whole = "\n".join(f"{key}={toml_value(value)}" for key, value in chosen.items())
    mark = xxhash.xxh3_64_hexdigest(whole.encode())[:8]
    simple = re.sub(r"[^a-z0-9_.=+-]+", "_", name.lower())
    return f"{simple[: LONGEST_NAME - 9].strip('.-_ ')}-{mark}"


def toml_value(value: Any) -> str:
    """A value as TOML writes it in one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quoted(key)} = {toml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in escaped) + '"'


def _document(path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadRecipe(f"there is no grid {path}", received=str(error), allowed="a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRecipe(f"{path} is not TOML", received=str(error), remedy="correct that line") from None
    for key in document:
        if key not in ("recipe", "seeds", "grid"):
            raise BadRecipe(f"{path} has a key it cannot have", received=key, allowed=_KEYS)
    return document


def _recipe_of(path: Path, document: Mapping[str, Any]) -> str | Path:
    """The recipe's name, or its path as it is seen from the grid's folder."""
    name = document.get("recipe")
    if not isinstance(name, str):
        raise BadRecipe(f"{path} names no recipe", received=repr(name), remedy='write recipe = "NAME"')
    return path.parent / name if name.endswith(".toml") and name not in shipped() else name


def _axes(table: Any, above: str = "") -> dict[str, list[Any]]:
    """Dotted keys and their lists, whether the keys are quoted or the tables nested."""
    allowed = "dotted keys with lists, such as optimizer.lr = [1e-3, 3e-3]"
    if not isinstance(table, Mapping):
        raise BadRecipe("grid is no table", received=repr(table), allowed=allowed)
    found: dict[str, list[Any]] = {}
    for key, value in table.items():
        name = f"{above}{key}"
        if isinstance(value, Mapping):
            found |= _axes(value, f"{name}.")
        elif isinstance(value, list) and value:
            found[name] = value
        else:
            raise BadRecipe(f"grid.{name} is no list of values", received=repr(value), allowed=allowed)
    return found


def _require_distinct(plan: Sequence[Planned], path: Path) -> None:
    twice = [name for name, count in Counter(run.name for run in plan).items() if count > 1]
    if twice:
        raise BadRecipe(f"{path} holds a combination twice", received=twice[0], remedy="give each value once")

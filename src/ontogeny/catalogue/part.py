"""What a part is, and how it is found by name."""

import hashlib
import importlib.metadata
import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ontogeny.errors import DuplicateName, UnknownName

ENTRY_POINTS = "ontogeny.parts"

#: Kinds of part, and what each is for.
KINDS: Mapping[str, str] = {
    "objective": "what is learned from what: draws, batches, loss",
    "stimulus": "a fixed, seeded input that checkpoints are measured on",
    "instrument": "one checkpoint, one place, by reduced evidence -> named numbers",
    "comparison": "two checkpoints, places or runs -> named numbers",
    "summary": "rows over places or steps -> rows",
    "trial": "a subject it may run with edits -> named numbers",
    "fit": "evidence -> an artefact and its quality numbers",
    "intervention": "a change to training with extent, window and sham",
    "detector": "one series -> when it changed, or why nothing is claimed",
    "null": "what an instrument would read if there were nothing to find",
    "view": "tables -> the description of a figure",
}
MEASURING = frozenset({"instrument", "comparison", "summary", "trial", "fit"})

#: Families of measuring parts; a choice such as `heads.*` names one.
FAMILIES: Mapping[str, str] = {
    "telemetry": "gradients, updates and losses, step by step",
    "spectra": "singular values, eigenvalues and similarity of representations",
    "heads": "what single attention heads do",
    "activations": "norms, sparsity and shape of activations",
    "tokens": "losses and predictions, token by token",
    "concepts": "probes, directions and dictionaries",
    "causal": "what changes when something is edited",
    "trajectory": "how weights move",
    "forecast": "what the beginning says of the end",
}


@dataclass(frozen=True)
class Part:
    """A declared part: what it is called, what it needs, what it gives, where its definition comes from."""

    kind: str
    name: str
    make: Callable[..., Any]
    needs: tuple[str, ...]
    parameters: Mapping[str, Any]
    source: str
    unit: str = ""
    axes: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    stimuli: tuple[str, ...] = ()
    null: str | None = None
    version: int = 1
    streamed: bool = False
    family: str = ""
    array: tuple[str, ...] = ()
    online: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def meaning(self) -> str:
        """The first sentence of its docstring."""
        return (inspect.getdoc(self.make) or "").split("\n\n")[0].replace("\n", " ")

    def said(self, word: str) -> str:
        """What its docstring says after `word:` (Known, Misleads …), up to the next such word."""
        text = inspect.getdoc(self.make) or ""
        found = re.search(rf"^{word}:\s*(.+?)(?=^\w+:|\Z)", text, re.DOTALL | re.MULTILINE)
        return " ".join(found.group(1).split()) if found else ""

    def bind(self, **chosen: Any) -> dict[str, Any]:
        """All its parameters, the given ones in place of the defaults; an unknown one is refused."""
        for name in chosen:
            if name not in self.parameters:
                raise UnknownName(f"parameter of {self.kind} {self.name!r}", name, self.parameters)
        return {**self.parameters, **chosen}

    def settings(self, **chosen: Any) -> str:
        """The parameters that differ from the defaults, as text: `variant='biased'`; empty if none does."""
        whole = self.bind(**chosen)
        differing = sorted(name for name in chosen if whole[name] != self.parameters[name])
        return ", ".join(f"{name}={whole[name]!r}" for name in differing)

    def parameter_hash(self, **chosen: Any) -> str:
        """Eight hex digits over the version and every parameter: part of the key of what it measures."""
        text = json.dumps([self.version, self.bind(**chosen)], sort_keys=True, default=str)
        return hashlib.blake2s(text.encode(), digest_size=4).hexdigest()


_PARTS: dict[str, dict[str, Part]] = {kind: {} for kind in KINDS}


def register(part: Part) -> None:
    """Put a part into the catalogue. The same object may come twice; another of its name may not."""
    rivals = MEASURING if part.kind in MEASURING else {part.kind}
    present = next((_PARTS[kind][part.name] for kind in rivals if part.name in _PARTS[kind]), None)
    if present is not None and present.make is not part.make:
        raise DuplicateName(
            f"two parts want to be {part.kind} {part.name!r}",
            received=f"{part.make.__module__}.{part.make.__qualname__}",
            allowed=f"one; {present.make.__module__}.{present.make.__qualname__} has the name",
            remedy="rename yours: a part's name is also its file's and its test's",
        )
    _PARTS[part.kind][part.name] = part


def declared_names(kind: str) -> tuple[str, ...]:
    """Names of a kind declared so far, without importing more."""
    return tuple(_PARTS[kind])


@cache
def load() -> None:
    """Import every part: ours and outsiders', all through one entry-point group."""
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            entry.load()
        except Exception as error:
            maker = entry.dist.name if entry.dist else "an unnamed distribution"
            error.add_note(f"while loading parts {entry.name!r} ({entry.value}) of {maker}")
            raise


def parts(kind: str) -> dict[str, Part]:
    """All parts of a kind by name, sorted."""
    if kind not in KINDS:
        raise UnknownName("kind of part", kind, KINDS)
    load()
    return dict(sorted(_PARTS[kind].items()))


def part(kind: str, name: str) -> Part:
    """One part; an unknown name gets the nearest match and the list."""
    known = parts(kind)
    if name not in known:
        raise UnknownName(kind, name, known, remedy=f"(`ontogeny parts {kind}` lists them)")
    return known[name]


def measuring_part(name: str) -> Part:
    """One part of any measuring kind, by its name."""
    known = {name: found for kind in sorted(MEASURING) for name, found in parts(kind).items()}
    if name not in known:
        raise UnknownName("measuring part", name, known, remedy="(`ontogeny parts` lists them)")
    return known[name]

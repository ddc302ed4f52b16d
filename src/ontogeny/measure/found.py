"""Evidence of one checkpoint under one stimulus: streamed once, derived on demand, never twice."""

from collections.abc import Iterable, Mapping
from typing import Any

from ontogeny.catalogue import Part
from ontogeny.evidence import EVIDENCE, RAW
from ontogeny.measure.fused_pass import Watcher
from ontogeny.vocabulary import Place, Reading, Status, undefined


def watchers_for(parts: Iterable[tuple[Part, str]]) -> list[Watcher]:
    """What a pass must reduce for (part, kind of site) pairs, each kind of evidence once."""
    found: dict[tuple[str, str], Watcher] = {}
    for part, at in parts:
        if part.streamed:
            found[part.name, at] = Watcher(part.name, at, part.make)
        for need in part.needs:
            _collect(need, at, found)
    return list(found.values())


def _collect(need: str, at: str, found: dict[tuple[str, str], Watcher]) -> None:
    kind = EVIDENCE.get(need, {}).get(at)
    if kind is None:
        return
    if kind.streamed:
        found.setdefault((need, at), Watcher(need, at, kind.make))
    for deeper in kind.needs:
        _collect(deeper, at, found)


class Found:
    """Looks up, or derives, evidence at a place. Undefined evidence is a Reading and is handed on."""

    def __init__(
        self,
        streamed: Mapping[tuple[str, str, Place], Any],
        matrices: Mapping[Place, Any],
        artefacts: Mapping[tuple[str, Place], Any] | None = None,
    ) -> None:
        self._values: dict[tuple[str, str, Place], Any] = dict(streamed)
        self._places: dict[str, list[Place]] = {"matrix": list(matrices)}
        for place, weight in matrices.items():
            self._values["weight", "matrix", place] = weight
        for _, at, place in streamed:
            if place not in self._places.setdefault(at, []):
                self._places[at].append(place)
        self._artefacts = dict(artefacts or {})

    def places(self, at: str) -> list[Place]:
        """Places of a kind of site that were seen."""
        return self._places.get(at, [])

    def get(self, need: str, at: str, place: Place) -> Any:
        """The evidence, or a Reading that says why there is none."""
        key = (need, at, place)
        if key not in self._values:
            self._values[key] = self._derive(need, at, place)
        return self._values[key]

    def keep(self, name: str, place: Place, artefact: Any) -> None:
        """Let a fit's artefact serve as evidence under the fit's name."""
        self._artefacts[name, place] = artefact

    def _derive(self, need: str, at: str, place: Place) -> Any:
        if (need, place) in self._artefacts:
            return self._artefacts[need, place]
        kind = EVIDENCE.get(need, {}).get(at)
        if need in RAW or kind is None or kind.streamed:
            return undefined(Status.NOT_OBSERVABLE, f"no {need} was seen at {place}")
        sources = [self.get(deeper, at, place) for deeper in kind.needs]
        missing = next((source for source in sources if isinstance(source, Reading)), None)
        return missing if missing is not None else kind.make(*sources)

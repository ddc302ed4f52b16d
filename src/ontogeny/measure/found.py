"""Evidence of one checkpoint under one stimulus: streamed once, derived on demand, never twice."""

from collections.abc import Iterable, Mapping
from typing import Any

from ontogeny.catalogue import Part
from ontogeny.evidence import EVIDENCE, GIVEN, RAW
from ontogeny.measure.fused_pass import Watcher
from ontogeny.vocabulary import AXES, Place, Reading, Status, undefined


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
        _collect(deeper, kind.source, found)


def _order(place: Place) -> list[tuple[bool, Any]]:
    """Sorts places by their coordinates, whatever order a pass showed them in."""
    return [(axis in place, place.get(axis)) for axis in AXES]


class Found:
    """Looks up, or derives, evidence at a place. Undefined evidence is a Reading and is handed on."""

    def __init__(
        self,
        streamed: Mapping[tuple[str, str, Place], Any],
        raw: Mapping[tuple[str, str, Place], Any],
        artefacts: Mapping[tuple[str, Place], Any] | None = None,
    ) -> None:
        self._values: dict[tuple[str, str, Place], Any] = {**raw, **streamed}
        places: dict[str, dict[Place, None]] = {}
        for _, at, place in self._values:
            places.setdefault(at, {})[place] = None
        self._places = {at: sorted(found, key=_order) for at, found in places.items()}
        self._artefacts = dict(artefacts or {})
        self._artefact_keys: dict[tuple[str, Place], str] = {}
        #: What is given at every place: `facts`, `stimulus`.
        self.given: dict[str, Any] = {}

    def places(self, at: str) -> list[Place]:
        """Places of a kind of site that were seen."""
        return self._places.get(at, [])

    def get(self, need: str, at: str, place: Place) -> Any:
        """The evidence, or a Reading that says why there is none."""
        key = (need, at, place)
        if key not in self._values:
            self._values[key] = self._derive(need, at, place)
        return self._values[key]

    def put(self, need: str, at: str, place: Place, value: Any) -> None:
        """Let what was read, not computed, serve as evidence at a place."""
        self._values[need, at, place] = value
        places = self._places.setdefault(at, [])
        if place not in places:
            places.append(place)

    def only(self, needs: Iterable[tuple[str, str]]) -> "Found":
        """The evidence of (need, kind of site) alone, derived now; what it was made from is let go."""
        kept = Found({}, {})
        for need, at in needs:
            for place in self.places(at):
                kept.put(need, at, place, self.get(need, at, place))
        return kept

    def keep(self, name: str, place: Place, artefact: Any, key: str = "") -> None:
        """Let a fit's artefact serve as evidence under the fit's name; `key` is what it is stored under."""
        self._artefacts[name, place] = artefact
        self._artefact_keys[name, place] = key

    def share(self, other: "Found") -> None:
        """Let the artefacts of another pass over the same checkpoint serve here as well."""
        self._artefacts = {**other._artefacts, **self._artefacts}
        self._artefact_keys = {**other._artefact_keys, **self._artefact_keys}

    def artefact_key(self, name: str, place: Place) -> str:
        """What a fit's artefact is stored under; empty if the name is no fit's."""
        return self._artefact_keys.get((name, place), "")

    def _derive(self, need: str, at: str, place: Place) -> Any:
        if (need, place) in self._artefacts:
            return self._artefacts[need, place]
        if need in GIVEN:
            return self.given.get(need, undefined(Status.NOT_OBSERVABLE, f"nothing is known of {need}"))
        kind = EVIDENCE.get(need, {}).get(at)
        if need in RAW or kind is None or kind.streamed:
            return undefined(Status.NOT_OBSERVABLE, f"no {need} was seen at {place}")
        sources = [self.get(deeper, kind.source, place) for deeper in kind.needs]
        missing = next((source for source in sources if isinstance(source, Reading)), None)
        return missing if missing is not None else kind.make(*sources)

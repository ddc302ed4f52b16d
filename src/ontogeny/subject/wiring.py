"""From taps by site to watches on a model's modules and attention calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import nn

from ontogeny.anatomy import TAPPABLE, Anatomy, Spot
from ontogeny.anatomy.anatomy import AT_ATTENTION, MODULE, WHOLE
from ontogeny.errors import NotObservable, UnknownName
from ontogeny.hooks.modules import Wire
from ontogeny.hooks.watch import Tap, Watch
from ontogeny.vocabulary import Place


@dataclass(frozen=True)
class Wiring:
    """Wires in the order of their hooks, watches by attention module, and those to be counted."""

    wires: list[Wire] = field(default_factory=list)
    attention: dict[nn.Module, dict[str, Watch]] = field(default_factory=dict)
    counted: list[Watch] = field(default_factory=list)


def wired(model: nn.Module, anatomy: Anatomy, taps: Mapping[str, Tap]) -> Wiring:
    """Watches for every tap; UnknownName for a site that no model has, NotObservable for one this has not.

    `module` is every module of the model, `module:PATH` one of them.
    """
    wiring = Wiring()
    for site, tap in taps.items():
        kind, _, path = site.partition(":")
        if kind not in TAPPABLE or (path and kind != MODULE):
            raise UnknownName("kind of site to tap", site, TAPPABLE)
        if kind == MODULE:
            wiring.wires.extend(_modules(model, path, tap))
        elif not anatomy.shows(site):
            raise NotObservable(
                f"{site} cannot be seen on a {type(model).__name__}", received=anatomy.why_not(site)
            )
        elif kind in AT_ATTENTION:
            for module, (path, places) in _calls(model, anatomy, anatomy.attention).items():
                watch = Watch(site, path, places, tap)
                wiring.attention.setdefault(module, {})[site] = watch
                wiring.counted.append(watch)
        else:
            wires = _at_modules(model, anatomy, site, tap)
            wiring.wires.extend(wires)
            wiring.counted.extend(wire.watch for wire in wires)
    return wiring


def _modules(model: nn.Module, path: str, tap: Tap) -> list[Wire]:
    known = dict(model.named_modules())
    if path and path not in known:
        raise UnknownName("module", path, known)
    chosen = {path: known[path]} if path else {name: module for name, module in known.items() if name}
    return [Wire(module, Watch(MODULE, name, (Place(site=name),), tap)) for name, module in chosen.items()]


def _at_modules(model: nn.Module, anatomy: Anatomy, site: str, tap: Tap) -> list[Wire]:
    spots = anatomy.sites[site]
    if site not in WHOLE:
        side, heads = spots[0].side, spots[0].heads
        return [
            Wire(module, Watch(site, path, places, tap), side, heads)
            for module, (path, places) in _calls(model, anatomy, [spot.path for spot in spots]).items()
        ]
    (spot,) = spots
    module = model.get_submodule(spot.path)
    return [
        Wire(module, Watch(site, spot.path or "the model", _once(model, anatomy, site, spot), tap), spot.side)
    ]


def _calls(
    model: nn.Module, anatomy: Anatomy, paths: Sequence[str]
) -> dict[nn.Module, tuple[str, list[Place]]]:
    """The places of a pass's calls of every module, in order, and its path; layers may share a module."""
    found: dict[nn.Module, tuple[str, list[Place]]] = {}
    for layer, place in anatomy.places():
        found.setdefault(model.get_submodule(paths[layer]), (paths[layer], []))[1].append(place)
    return found


def _once(model: nn.Module, anatomy: Anatomy, site: str, spot: Spot) -> list[Place | None]:
    """A block that is called several times shows the stream before its first, or after its last call."""
    module = model.get_submodule(spot.path)
    uses = sum(model.get_submodule(block) is module for block in anatomy.blocks) * anatomy.loops
    places: list[Place | None] = [None] * max(uses, 1)
    places[0 if site == "embedding" else -1] = Place()
    return places

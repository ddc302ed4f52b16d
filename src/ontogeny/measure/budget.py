"""What each part costs, and which parts a budget reaches: the cheapest first, the same ones every time.

Prices are measured once, on one batch of one checkpoint, and kept in `prices.json` beside the rows: the
same budget leaves out the same parts on every call and in every worker. Delete the file to measure anew.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ontogeny.catalogue import DataFacts
from ontogeny.errors import Damaged
from ontogeny.measure.checkpoint import Measured, Unit, measure_unit
from ontogeny.measure.found import Found, watchers_for
from ontogeny.measure.fused_pass import Watcher, fused_pass
from ontogeny.measure.raw_weights import raw_weights
from ontogeny.measure.taken_steps import add_steps
from ontogeny.store.documents import read_json, write_json
from ontogeny.store.run import Run
from ontogeny.subject import Subject
from ontogeny.vocabulary import Place, Reading, Stimulus

PRICES = "prices.json"


@dataclass
class Prices:
    """Seconds a checkpoint: of running each stimulus, of reducing each evidence, of each unit's own work."""

    passes: dict[str, float] = field(default_factory=dict)
    evidence: dict[str, float] = field(default_factory=dict)
    units: dict[str, float] = field(default_factory=dict)

    def of(self, unit: Unit, paid: set[str] | None = None) -> tuple[float, set[str]]:
        """What a unit costs beside what is `paid` for, and what it would then be paid for."""
        paid = paid or set()
        due = {f"pass {unit.stimulus_hash}": self.passes.get(unit.stimulus_hash, 0.0)}
        due |= {f"evidence {key}": self.evidence.get(key, 0.0) for key in evidence_keys(unit)}
        cost = sum(seconds for key, seconds in due.items() if key not in paid)
        return cost + self.units.get(unit_key(unit), 0.0), paid | set(due)


def unit_key(unit: Unit) -> str:
    """A unit in words: part, parameters, kind of site, stimulus."""
    name = f"{unit.part.name}({unit.part.settings(**unit.parameters)}) v{unit.part.version}"
    return f"{name} at {unit.at} on {unit.stimulus_hash}{' layers' if unit.layers else ''}"


def evidence_keys(unit: Unit) -> list[str]:
    """The evidence that a pass reduces for a unit, by name, kind of site and stimulus."""
    watchers = watchers_for([(unit.watched, unit.at)])
    return [f"{watcher.name} at {watcher.at} on {unit.stimulus_hash}" for watcher in watchers]


def prices_of(
    home: Path,
    subject: Subject,
    units: Sequence[Unit],
    facts: DataFacts | None,
    batch: int,
    *,
    run: Run | None = None,
    keep: bool = True,
) -> Prices:
    """Prices as they are kept at `home`; units that have none yet are priced on this model, and kept."""
    prices = _kept(home)
    missing = [unit for unit in units if unit_key(unit) not in prices.units]
    if not missing:
        return prices
    by_stimulus: dict[str, list[Unit]] = {}
    for unit in missing:
        by_stimulus.setdefault(unit.stimulus_hash, []).append(unit)
    for together in by_stimulus.values():
        _price(prices, subject, [unit for unit in together if not unit.ahead], facts, batch)
    for unit in missing:
        if unit.ahead:
            prices.units[unit_key(unit)] = _step_seconds(unit, run)
    if keep:
        home.mkdir(parents=True, exist_ok=True)
        write_json(home / PRICES, vars(prices))
    return prices


def _kept(home: Path) -> Prices:
    if not (home / PRICES).exists():
        return Prices()
    try:
        return Prices(**read_json(home / PRICES))
    except (Damaged, TypeError):
        return Prices()


def _price(
    prices: Prices, subject: Subject, units: Sequence[Unit], facts: DataFacts | None, batch: int
) -> None:
    """Time one batch of a stimulus, each reduction in it, and each part at one place of every shape."""
    if not units:
        return
    stimulus = units[0].stimulus
    streamed: Mapping[Any, Any] = {}
    if isinstance(stimulus, Reading):
        prices.units |= {unit_key(unit): 0.0 for unit in units}
        return
    if isinstance(stimulus, Stimulus):
        first = _first(stimulus, batch)
        scale = stimulus.shape[0] / max(first.shape[0], 1)
        spent: dict[str, float] = {}
        watchers = watchers_for((unit.watched, unit.at) for unit in units)
        timed = [_timed(watcher, f"{watcher.name} at {watcher.at}", spent) for watcher in watchers]
        # What is made once a session costs no checkpoint.
        fused_pass(subject, _first(stimulus, 1), watchers, batch, facts)
        seconds, streamed = _clock(lambda: fused_pass(subject, first, timed, batch, facts))
        key = units[0].stimulus_hash
        prices.passes[key] = max(0.0, seconds - sum(spent.values())) * scale
        prices.evidence |= {f"{name} on {key}": value * scale for name, value in spent.items()}
    raw = raw_weights(subject, {unit.at for unit in units})
    for unit in units:
        given = {"facts": facts, "stimulus": stimulus}
        prices.units[unit_key(unit)] = _own_seconds(subject, unit, streamed, raw, given, prices)


def _first(stimulus: Stimulus, batch: int) -> Stimulus:
    """Its first batch; aims stay whole, since reductions look up the rows they see."""
    tokens, weights = stimulus.tokens[:batch], stimulus.weights[:batch]
    aims = {
        name: replace(aim, own=aim.own[:batch], shuffled=aim.shuffled[:, :batch])
        for name, aim in stimulus.aims.items()
    }
    return replace(stimulus, tokens=tokens, weights=weights, aims=aims)


def _own_seconds(
    subject: Subject, unit: Unit, streamed: Any, raw: Any, given: Mapping[str, Any], prices: Prices
) -> float:
    """Deriving evidence and calling the part at one place, times the places; a trial by its passes."""
    if unit.part.kind == "trial":
        passes = unit.part.options["passes"]
        count = passes if isinstance(passes, int) else passes(subject, unit.stimulus)
        return count * prices.passes.get(unit.stimulus_hash, 0.0)
    offered = {**raw, **streamed}
    alike = _alike(Found(streamed, raw).places(unit.at), unit.at, raw)
    if "facts" in unit.part.needs and alike:
        _at_place(subject, unit, offered, given, alike[0][0])()  # facts are counted once a session
    each = [len(places) * _clock(_at_place(subject, unit, offered, given, places[0]))[0] for places in alike]
    seconds = sum(each, start=0.0)
    return seconds * (sum(map(len, alike)) - 1) / 2 if unit.layers else seconds


def _alike(places: Sequence[Place], at: str, raw: Any) -> list[list[Place]]:
    """Places whose weights have the same shapes: what one of them takes, each of them takes."""
    shapes: dict[Place, list[Any]] = {}
    for (_, site, place), weight in raw.items():
        if site == at:
            shapes.setdefault(place, []).append(getattr(weight, "shape", None))
    groups: dict[str, list[Place]] = {}
    for place in places:
        groups.setdefault(str(shapes.get(place)), []).append(place)
    return list(groups.values())


def _at_place(
    subject: Subject, unit: Unit, offered: Any, given: Mapping[str, Any], place: Place
) -> Callable[[], None]:
    """Measuring a unit at one place alone; a comparison is with the same evidence."""
    found = Found({key: value for key, value in offered.items() if key[2] == place}, {})
    found.given |= given
    plain = replace(unit, layers=False)
    return lambda: measure_unit(Measured(), subject, plain, found, [plain], lambda _: found)


def _step_seconds(unit: Unit, run: Run | None) -> float:
    """Taking the step after the run's first checkpoint, and reading it."""
    first = run.checkpoints[0].step if run is not None and run.checkpoints else 0
    return _clock(lambda: add_steps(Measured(), [unit], run, first))[0]


def _clock(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of work, not of waiting: a busy machine must not make a part dearer."""
    started = time.process_time()
    result = call()
    return time.process_time() - started, result


def _timed(watcher: Watcher, name: str, spent: dict[str, float]) -> Watcher:
    """The same watcher, which adds up the seconds it takes."""
    spent.setdefault(name, 0.0)

    def make() -> Any:
        reducer: Any = watcher.make()

        class Timed:
            def __getattr__(self, method: str) -> Callable[..., Any]:
                def call(*arguments: Any) -> Any:
                    seconds, result = _clock(lambda: getattr(reducer, method)(*arguments))
                    spent[name] += seconds
                    return result

                return call

        return Timed()

    return replace(watcher, make=make)


def too_dear(units: Sequence[Unit], prices: Prices, checkpoints: int, budget: float) -> dict[str, str]:
    """Units that a budget of seconds over so many checkpoints does not reach, and why, by their key.

    They are taken in the order of their price alone, then of their name, as long as there is budget; what
    several share is paid once. A part brings the fits it needs.
    """
    if checkpoints == 0:
        return {}
    fits = {unit.part.name: unit for unit in units if unit.part.kind == "fit"}
    groups = [[unit, *(fits[need] for need in unit.part.needs if need in fits)] for unit in units]
    groups.sort(key=lambda group: (_together(group, prices, set())[0], unit_key(group[0])))
    paid: set[str] = set()
    taken: set[str] = set()
    total = 0.0
    refused: dict[str, str] = {}
    for group in groups:
        new = [unit for unit in group if unit_key(unit) not in taken]
        cost, would = _together(new, prices, paid)
        if (total + cost) * checkpoints > budget:
            refused[unit_key(group[0])] = (
                f"{cost:.2g} s a checkpoint; {checkpoints} checkpoints of what is cheaper take "
                f"{total * checkpoints:.2g} s of the {budget:.4g} s that are given"
            )
            continue
        total, paid = total + cost, would
        taken |= {unit_key(unit) for unit in new}
    return {key: reason for key, reason in refused.items() if key not in taken}


def _together(group: Sequence[Unit], prices: Prices, paid: set[str]) -> tuple[float, set[str]]:
    total = 0.0
    for unit in group:
        cost, paid = prices.of(unit, paid)
        total += cost
    return total, paid


def seconds_of(text: str) -> float:
    """A duration such as `90`, `90s`, `15min` or `2h`, in seconds; ValueError for anything else."""
    for unit, seconds in (("min", 60.0), ("h", 3600.0), ("s", 1.0), ("", 1.0)):
        number = text.strip().removesuffix(unit)
        if text.strip().endswith(unit) and _is_number(number):
            return float(number) * seconds
    raise ValueError(f"{text!r} is no duration; write 90s, 15min or 2h")


def _is_number(text: str) -> bool:
    return text.strip().replace(".", "", 1).isdigit()

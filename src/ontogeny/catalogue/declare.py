"""The decorators that declare parts; each checks its contract where the part stands, at import."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ontogeny.catalogue.course import OFFERED
from ontogeny.catalogue.part import FAMILIES, MEASURING, Part, declared_names, register
from ontogeny.catalogue.references import checked_references
from ontogeny.errors import BadContract, UnknownName
from ontogeny.evidence.kinds import SITES, sites_offering
from ontogeny.vocabulary import AXES

Declared = TypeVar("Declared", bound=Callable[..., Any])


def signature(make: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    needs, parameters = [], {}
    for name, parameter in inspect.signature(make).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise BadContract(f"{make.__name__} takes *{name}", allowed="named needs and parameters only")
        if parameter.kind is parameter.KEYWORD_ONLY:
            parameters[name] = None if parameter.default is parameter.empty else parameter.default
        else:
            needs.append(name)
    return tuple(needs), parameters


def check_words(kind: str, make: Callable[..., Any], source: str) -> None:
    text = inspect.getdoc(make) or ""
    wanted = ("Known:", "Misleads:") if kind in MEASURING else ()
    missing = [word for word in wanted if word not in text]
    if not text or missing or not source:
        raise BadContract(
            f"{kind} {make.__name__!r} does not say what it means",
            received=f"no {', '.join(missing) or ('source' if text else 'docstring')}",
            allowed="a docstring with its meaning, Known: and Misleads: (for numbers), and a source",
        )


def _sites(part_name: str, needs: Sequence[str], fits: Sequence[str], at: Sequence[str]) -> tuple[str, ...]:
    """Kinds of site where every need can be met; fits used as evidence are offered wherever they fit."""
    offered = frozenset(SITES)
    for need in needs:
        if need not in fits:
            offered &= sites_offering(need)
    if at:
        wrong = set(at) - offered
        if wrong:
            raise BadContract(
                f"{part_name!r} cannot be measured at {', '.join(sorted(wrong))}",
                received=f"needs {', '.join(needs)}",
                allowed=", ".join(sorted(offered)) or "nowhere: no site offers all of these needs",
            )
        return tuple(at)
    if not offered:
        raise BadContract(f"no site offers all needs of {part_name!r}", received=", ".join(needs))
    return tuple(site for site in SITES if site in offered)


def declared(kind: str, source: str, **said: Any) -> Callable[[Declared], Declared]:
    def declare(make: Declared) -> Declared:
        check_words(kind, make, source)
        needs, parameters = signature(make)
        for axis in (*said.get("axes", ()), *said.get("array", ())):
            if axis not in AXES:
                raise UnknownName("axis", axis, AXES)
        if family := said.get("family"):
            _known_family(family)
        register(Part(kind, make.__name__, make, needs, parameters, source, **said))
        return make

    return declare


def _known_family(family: str) -> None:
    if family not in FAMILIES:
        raise UnknownName("family", family, FAMILIES)


def _streamed_sites(kind: str, make: Any, needs: Sequence[str], at: Sequence[str]) -> tuple[str, ...]:
    """The one kind of site a streamed part (a class) is shown; () for a function."""
    if not inspect.isclass(make):
        return ()
    lacking = [m for m in ("init", "update", "finish") if not callable(getattr(make, m, None))]
    if lacking or needs or len(at) != 1:
        raise BadContract(
            f"streamed {kind} {make.__name__!r} does not keep its contract",
            received=f"lacks {', '.join(lacking)}" if lacking else f"needs={needs} at={tuple(at)}",
            allowed="a class without needs, with init, update, finish, and at=(one kind of site,)",
        )
    return tuple(at)


def _measuring(
    kind: str, source: str, *, at: Sequence[str] = (), **said: Any
) -> Callable[[Declared], Declared]:
    def declare(make: Declared) -> Declared:
        needs, _ = signature(make)
        sites = _streamed_sites(kind, make, needs, at) or _sites(
            make.__name__, needs, declared_names("fit"), at
        )
        declared(kind, source, at=sites, streamed=inspect.isclass(make), **said)(make)
        return make

    return declare


def instrument(
    *,
    unit: str,
    source: str,
    family: str = "",
    axes: Sequence[str] = (),
    array: Sequence[str] = (),
    at: Sequence[str] = (),
    stimuli: Sequence[str] = ("heldout",),
    null: str | None = None,
    online: bool = False,
    version: int = 1,
) -> Callable[[Declared], Declared]:
    """One checkpoint, one place. `axes` name the dimensions of what it returns; () is one number.

    `array` names the dimensions of what a Reading keeps in its `array`, beside its number. `online` parts
    read the gradients, updates and parameters of a training step (`evidence.online`): the Recorder runs
    them while a model is trained, and `replay.measure_step` runs them on a recorded step.
    """
    return _measuring(
        "instrument",
        source,
        at=at,
        unit=unit,
        family=family,
        axes=tuple(axes),
        array=tuple(array),
        stimuli=() if online else tuple(stimuli),
        null=null,
        online=online,
        version=version,
    )


def comparison(
    *,
    unit: str,
    source: str,
    reference: str | Sequence[str] = "final",
    layers: bool = False,
    family: str = "",
    axes: Sequence[str] = (),
    array: Sequence[str] = (),
    at: Sequence[str] = (),
    stimuli: Sequence[str] = ("heldout",),
    version: int = 1,
) -> Callable[[Declared], Declared]:
    """Two checkpoints at one place: every need arrives as a Pair(here, there).

    With several references it arrives as Several(here, there), `there` by the references' names. `layers`
    says that the part also makes sense between two places of one checkpoint, and is to be measured so.
    """
    return _measuring(
        "comparison",
        source,
        at=at,
        unit=unit,
        family=family,
        axes=tuple(axes),
        array=tuple(array),
        stimuli=tuple(stimuli),
        version=version,
        options={"reference": checked_references(reference), "layers": layers},
    )


def fit(
    *,
    source: str,
    family: str = "",
    at: Sequence[str] = (),
    stimuli: Sequence[str] = ("heldout",),
    version: int = 1,
) -> Callable[[Declared], Declared]:
    """Evidence in, Fitted(artefact, quality) out; its name may be a need of other parts.

    A parameter called `rng` receives a generator of the measurement stream.
    """
    return _measuring("fit", source, at=at, family=family, stimuli=tuple(stimuli), version=version)


def trial(
    *,
    unit: str,
    source: str,
    passes: int | Callable[[Any, Any], int],
    family: str = "",
    axes: Sequence[str] = (),
    stimuli: Sequence[str] = ("heldout",),
    version: int = 1,
) -> Callable[[Declared], Declared]:
    """Runs a subject with edits: needs are `subject` and `stimulus`; `passes` prices it before it runs."""

    def declare(make: Declared) -> Declared:
        needs, _ = signature(make)
        if not set(needs) <= {"subject", "stimulus"}:
            raise BadContract(
                f"trial {make.__name__!r} needs too much", received=needs, allowed="subject, stimulus"
            )
        said = {"unit": unit, "axes": tuple(axes), "stimuli": tuple(stimuli), "version": version}
        return declared("trial", source, family=family, **said, options={"passes": passes})(make)

    return declare


def summary(
    *,
    unit: str,
    source: str,
    family: str = "",
    axes: Sequence[str] = (),
    array: Sequence[str] = (),
    stimuli: Sequence[str] = (),
    telemetry: Sequence[str] = (),
    version: int = 1,
) -> Callable[[Declared], Declared]:
    """What is known of a whole series in, readings out; it runs after all checkpoints, once a stimulus.

    Its needs are names of measuring parts, each given as a `Course` (rows of every step and place, newest
    only, and arrays), and any of: `telemetry`, a DataFrame with `step` and the metrics named in the
    declaration; `facts`, what is known of the data; `stimulus`, the Stimulus the rows were measured on.
    `stimuli` restricts it to some of those that all its parts were measured on.

    It returns a Reading, or a mapping of names to Readings (of the whole course: their row stands at the
    last step), or an iterable of `Summarised(reading, step, place, component)`. Values may have the declared
    axes. Its rows' `reference` is the hash of everything it read.
    """

    def declare(make: Declared) -> Declared:
        needs, _ = signature(make)
        of = tuple(need for need in needs if need not in OFFERED)
        if ("telemetry" in needs) != bool(telemetry):
            raise BadContract(
                f"summary {make.__name__!r} does not say which metrics it reads",
                received=f"needs {', '.join(needs)}; telemetry={tuple(telemetry)}",
                allowed="a need `telemetry` and telemetry=(names of metrics,), or neither",
            )
        if not of and not telemetry:
            raise BadContract(f"summary {make.__name__!r} reads no part and no telemetry", received=needs)
        said = {"unit": unit, "axes": tuple(axes), "array": tuple(array), "stimuli": tuple(stimuli)}
        options = {"of": of, "telemetry": tuple(telemetry)}
        return declared("summary", source, family=family, version=version, **said, options=options)(make)

    return declare


def stimulus(*, source: str, version: int = 1) -> Callable[[Declared], Declared]:
    """Facts about the series' data in, a Stimulus out (or an `undefined` reading that says why not)."""
    return declared("stimulus", source, version=version)


def objective(*, source: str, version: int = 1) -> Callable[[Declared], Declared]:
    """A class or factory whose result keeps the Objective contract; positional needs are sources by hash."""
    return declared("objective", source, version=version)


def intervention(*, source: str, version: int = 1) -> Callable[[Declared], Declared]:
    """A class or factory whose result keeps the Intervention contract."""
    return declared("intervention", source, version=version)


def view(*, version: int = 1) -> Callable[[Declared], Declared]:
    """Tables in, a figure's description out; drawing is somebody else's."""
    return declared("view", "ours", version=version)

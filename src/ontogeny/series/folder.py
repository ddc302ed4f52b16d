"""A folder of checkpoints in any layout: found by what lies in it, ordered by what its trainer counted."""

from pathlib import Path

from ontogeny import formats
from ontogeny.errors import NotARun
from ontogeny.formats import Trust
from ontogeny.series.checkpoint import LocalCheckpoint
from ontogeny.series.found import Found, Rule
from ontogeny.series.naming import Named, Pattern, plain_step, worded_step
from ontogeny.series.recorded import recorded_step

#: Where the rows of somebody else's series go, beside its checkpoints.
ROWS_HOME = "ontogeny"
#: Folders that trainers put their checkpoints into; looked into if a folder itself holds none.
WITHIN = ("checkpoints", "ckpts", "ckpt", "models")


def find_checkpoints(path: Path, pattern: Pattern | None, rule: Rule, trust: Trust) -> Found:
    """Every checkpoint in a folder, or the one that the path itself is; nothing if there is none.

    A checkpoint whose trainer counted its steps has that step, whatever its name says. Without a pattern the
    name's number counts; one of several that gives no step is left out, with a note. NotARun if two claim
    one step, or a name can be read in several ways.
    """
    found, whole = Found(), formats.find(path) is not None
    inside = _recognised(path, pattern)
    if not inside and pattern is None:
        inside = [one for name in WITHIN for one in _recognised(path / name, None)]
    if len(inside) == 1 and pattern is None and not whole:
        _add_alone(found, inside[0][0], Named(worded_step(inside[0][1]) or 0), rule, trust)
        return found
    nameless = []
    for one, name in inside:
        named = _said(name, pattern)
        if named is None:
            nameless.append(one)
            continue
        counted = recorded_step(one)
        _note_difference(found, one, named, counted)
        step = named.step if counted is None else counted
        tokens = rule(step) if named.tokens is None else named.tokens
        found.add(LocalCheckpoint(step, one.name, tokens, trust=trust, path=one))
    for one in nameless:
        _add_nameless(found, one, rule, trust)
    if whole and found.by_step:
        _add_nameless(found, path, rule, trust)
    elif whole:
        alone = Named(worded_step(path.name) or 0) if pattern is None else pattern.read(path.name)
        if alone is not None:
            _add_alone(found, path, alone, rule, trust)
    return found


def _add_alone(found: Found, one: Path, named: Named, rule: Rule, trust: Trust) -> None:
    """The only checkpoint there is: a lone number in its name may mean anything, so it may be step 0."""
    counted = recorded_step(one)
    step = named.step if counted is None else counted
    if not step and counted is None:
        found.notes.append(f"{one.name} is taken as step 0: nothing says which it is")
    tokens = rule(step) if named.tokens is None else named.tokens
    found.add(LocalCheckpoint(step, one.name, tokens, trust=trust, path=one))


def _recognised(path: Path, pattern: Pattern | None) -> list[tuple[Path, str]]:
    """Checkpoints below a path with their names from there; files only in a folder that is none itself.

    With a pattern only what it matches, as deep as it has slashes.
    """
    whole = formats.find(path) is not None
    return [
        (one, name)
        for one, name in _entries(path, 0 if pattern is None else pattern.text.count("/"))
        if not (whole and one.is_file())
        and (pattern is None or pattern.read(name) is not None)
        and formats.find(one) is not None
    ]


def _said(name: str, pattern: Pattern | None) -> Named | None:
    if pattern is not None:
        return pattern.read(name)
    step = plain_step(name)
    return None if step is None else Named(step)


def _entries(path: Path, depth: int) -> list[tuple[Path, str]]:
    """What lies `depth` folders below a path, with its name from there."""
    try:
        found = sorted(path.glob("/".join(["*"] * (depth + 1)))) if path.is_dir() else []
        if path.is_dir():
            next(path.iterdir(), None)  # glob hides what it may not read
    except OSError as error:
        raise NotARun(f"{path} cannot be read", received=error.strerror) from error
    names = [(one, one.relative_to(path).as_posix()) for one in found]
    return [(one, name) for one, name in names if not name.startswith((".", f"{ROWS_HOME}/"))]


def _note_difference(found: Found, one: Path, named: Named, counted: int | None) -> None:
    if counted is not None and counted != named.step:
        found.notes.append(
            f"{one.name} is taken as step {counted}: its trainer counted so; its name counts something else"
        )


def _add_nameless(found: Found, one: Path, rule: Rule, trust: Trust) -> None:
    """A final model saved beside the others: its step is known only if its trainer wrote it down."""
    counted = recorded_step(one)
    if counted is None:
        found.notes.append(f"{one.name} is left out: neither its name nor its trainer gives a step")
    elif counted in found.by_step:
        same = found.by_step[counted].label
        found.notes.append(f"{one.name} is left out: it is step {counted}, as {same} is")
    else:
        found.add(LocalCheckpoint(counted, one.name, rule(counted), trust=trust, path=one))

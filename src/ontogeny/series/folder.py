"""A folder of checkpoints in any layout: found by what lies in it, ordered by what its trainer counted."""

from collections.abc import Iterator
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
    name's number counts; a checkpoint that gives no step is left out, with a note. NotARun if two claim
    one step, or a name can be read in several ways.
    """
    found = Found()
    inside = list(_candidates(path, pattern))
    if not inside and pattern is None:
        inside = [c for name in WITHIN for c in _candidates(path / name, None) if (path / name).is_dir()]
    if not inside:
        if (alone := _alone(path, pattern, rule, trust)) is not None:
            found.add(alone)
        return found
    nameless = []
    for one, named in inside:
        counted = recorded_step(one)
        if named is None:
            nameless.append((one, counted))
            continue
        _note_difference(found, one, named, counted)
        step = named.step if counted is None else counted
        tokens = rule(step) if named.tokens is None else named.tokens
        found.add(LocalCheckpoint(step, one.name, tokens, trust=trust, path=one))
    if formats.find(path) is not None:
        nameless.append((path, recorded_step(path)))
    for one, counted in nameless:
        _add_nameless(found, one, counted, rule, trust)
    return found


def _alone(path: Path, pattern: Pattern | None, rule: Rule, trust: Trust) -> LocalCheckpoint | None:
    """The checkpoint that a path is itself; step 0 if nothing says which."""
    named = None if pattern is None else pattern.read(path.name)
    if formats.find(path) is None or (pattern is not None and named is None):
        return None
    step = recorded_step(path)
    if step is None:
        step = named.step if named is not None else worded_step(path.name) or 0
    tokens = rule(step) if named is None or named.tokens is None else named.tokens
    return LocalCheckpoint(step, path.name, tokens, trust=trust, path=path)


def _candidates(path: Path, pattern: Pattern | None) -> Iterator[tuple[Path, Named | None]]:
    """Checkpoints below a path with what their names say, by name; files only in a folder that is none.

    With a pattern only what it matches, as deep as it has slashes.
    """
    whole = formats.find(path) is not None
    for one, name in _entries(path, 0 if pattern is None else pattern.text.count("/")):
        if whole and one.is_file():
            continue
        said = pattern.read(name) if pattern is not None else None
        if (pattern is not None and said is None) or formats.find(one) is None:
            continue
        if pattern is None and (step := plain_step(one.name)) is not None:
            said = Named(step)
        yield one, said


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


def _add_nameless(found: Found, one: Path, counted: int | None, rule: Rule, trust: Trust) -> None:
    """A final model saved beside the others: its step is known only if its trainer wrote it down."""
    if counted is None:
        found.notes.append(f"{one.name} is left out: neither its name nor its trainer gives a step")
    elif counted in found.by_step:
        same = found.by_step[counted].label
        found.notes.append(f"{one.name} is left out: it is step {counted}, as {same} is")
    else:
        found.add(LocalCheckpoint(counted, one.name, rule(counted), trust=trust, path=one))

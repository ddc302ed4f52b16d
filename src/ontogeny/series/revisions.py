"""Which revisions of a hub's repository are checkpoints, and of which steps."""

from pathlib import Path

from ontogeny.errors import NotARun
from ontogeny.formats import Trust
from ontogeny.series.found import Found, Rule
from ontogeny.series.hub import HubCheckpoint, revisions
from ontogeny.series.naming import Named, Pattern, plain_step

MAIN = "main"


def find_revisions(repository: str, home: Path, pattern: Pattern | None, rule: Rule, trust: Trust) -> Found:
    """Branches and tags whose names give a step; a repository of one model is its `main`, as step 0.

    Revisions without a step are left out with a note. NotARun if two claim one step.
    """
    commits, notes = revisions(repository)
    found, left = Found(notes=notes), []
    for name, commit in sorted(commits.items()):
        said = _said(name, pattern)
        if said is None:
            left.append(name)
            continue
        tokens = rule(said.step) if said.tokens is None else said.tokens
        found.add(_checkpoint(repository, home, trust, said.step, name, tokens, commit))
    if not found.by_step and pattern is None and MAIN in commits:
        left.remove(MAIN)
        found.add(_checkpoint(repository, home, trust, 0, MAIN, rule(0), commits[MAIN]))
    if left:
        found.notes.append(f"left out, for their names give no step: {', '.join(left)}")
    return found


def _checkpoint(
    repository: str, home: Path, trust: Trust, step: int, name: str, tokens: float | None, commit: str
) -> HubCheckpoint:
    return HubCheckpoint(step, name, tokens, trust=trust, repository=repository, commit=commit, home=home)


def _said(name: str, pattern: Pattern | None) -> Named | None:
    if pattern is not None:
        return pattern.read(name)
    try:
        step = plain_step(name)
    except NotARun:  # a tag such as v1.0.2
        return None
    return None if step is None else Named(step)

"""An ordered set of checkpoints: a run's, a folder of them, a hub's revisions, or what a function makes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import xxhash
from torch import nn

from ontogeny.errors import NotARun, OntogenyError
from ontogeny.formats import FORMATS, Trust
from ontogeny.series import hub
from ontogeny.series.checkpoint import LocalCheckpoint, SeriesCheckpoint
from ontogeny.series.configurations import cautions, differing_configurations
from ontogeny.series.folder import ROWS_HOME, find_checkpoints
from ontogeny.series.found import Found, Rule
from ontogeny.series.made import Load, MadeCheckpoint, importable, resolved, whole_step
from ontogeny.series.naming import Pattern
from ontogeny.series.revisions import find_revisions
from ontogeny.series.spacing import jumps
from ontogeny.series.steps import TokenRule, tokens_by
from ontogeny.store.run import MANIFEST, Run

#: Where the rows of series go that lie in no folder of their own: hub's and made ones.
MEASURED_HOME = Path("measured")


@dataclass(frozen=True)
class Series:
    """Checkpoints by step.

    home    where rows measured on them are kept
    run     the run they belong to; None for anybody else's
    notes   what was left out or taken otherwise than it seems; jumps of the steps
    """

    path: Path
    home: Path
    name: str
    id: str
    checkpoints: tuple[SeriesCheckpoint, ...]
    run: Run | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def open(
        cls,
        where: Path | str,
        home: Path | str | None = None,
        *,
        pattern: str | None = None,
        tokens: TokenRule | None = None,
        trust: bool | Trust = False,
    ) -> Self:
        """Open a run, a folder of checkpoints in any format, one checkpoint, or `hub:OWNER/NAME`.

        pattern   how checkpoints are named (`naming.Pattern`); none is needed for step1000, checkpoint-500,
                  iter_000100, ckpt_500.pt and the like
        tokens    tokens per step, or a function from the step to the tokens seen by then; a run knows its own
        trust     whether files that hold a pickle may be opened, in a process of their own

        Nothing but names and small files is read. NotARun if there is no checkpoint, if two claim one step,
        or if a name can be read in several ways.
        """
        trust = trust if isinstance(trust, Trust) else Trust(pickles=trust)
        chosen, rule = None if pattern is None else Pattern.of(pattern), tokens_by(tokens)
        path = Path(where)
        if (path / MANIFEST).exists():
            return cls._of_run(path, home, chosen, rule)
        home = home_of(where, home)
        if str(where).startswith(hub.PREFIX):
            identity, name = str(where), _slug(where)
            repository = str(where).removeprefix(hub.PREFIX)
            found = find_revisions(repository, home, chosen, rule, trust)
        else:
            identity, name = str(path.resolve()), path.name
            found = find_checkpoints(path, chosen, rule, trust)
        if not found.by_step:
            raise _nothing_at(path, chosen, found.notes)
        if chosen is not None and chosen.counts_tokens:
            found.notes.append("the pattern gives no step: `step` counts tokens, unless a trainer counted")
        return cls._ordered(path, home, name, identity, found)

    @classmethod
    def of(
        cls,
        load: Load | str,
        steps: Iterable[int],
        *,
        name: str,
        home: Path | str | None = None,
        tokens: TokenRule | None = None,
        model: nn.Module | None = None,
    ) -> Self:
        """Checkpoints that `load(step)` makes: each a module, a Subject, or a state dict of `model`.

        `load` may be written `module:function`. Only such a function can be measured by several workers.
        What it gives must be the same whenever it is asked. Rows of series of one name belong together.
        """
        function, rule = resolved(load), tokens_by(tokens)
        found = Found()
        for step in map(whole_step, steps):
            found.add(MadeCheckpoint(step, f"{name} {step}", rule(step), load=function, model=model))
        if not found.by_step:
            raise NotARun(f"the series {name!r} has no steps", allowed="at least one step")
        return cls._ordered(Path(name), Path(home or MEASURED_HOME / name), name, f"made:{name}", found)

    @classmethod
    def _of_run(cls, path: Path, home: Path | str | None, pattern: Pattern | None, rule: Rule) -> Self:
        if pattern is not None:
            raise NotARun(f"{path} is a run", remedy="leave the pattern out: a run knows its steps")
        run = Run.open(path)
        found = tuple(
            LocalCheckpoint(c.step, c.folder.name, rule(c.step), path=c.folder) for c in run.checkpoints
        )
        return cls(path, Path(home or path), run.name, run.id, found, run)

    @classmethod
    def _ordered(cls, path: Path, home: Path, name: str, identity: str, found: Found) -> Self:
        steps = sorted(found.by_step)
        found.notes += [*jumps(steps), *differing_configurations(found.by_step), *cautions(found.by_step)]
        checkpoints = tuple(found.by_step[step] for step in steps)
        digest = xxhash.xxh3_64_hexdigest(identity.encode())[:8]
        return cls(path, home, name, digest, checkpoints, None, tuple(found.notes))

    def kept_in(self, home: Path | str) -> Self:
        """The same series with its rows elsewhere."""
        moved = [
            replace(one, home=Path(home)) if isinstance(one, hub.HubCheckpoint) else one
            for one in self.checkpoints
        ]
        return replace(self, home=Path(home), checkpoints=tuple(moved))

    def at(self, step: int) -> SeriesCheckpoint:
        """The checkpoint of a step; NotARun names the nearest ones if there is none."""
        for checkpoint in self.checkpoints:
            if checkpoint.step == step:
                return checkpoint
        steps = [checkpoint.step for checkpoint in self.checkpoints]
        near = sorted(steps, key=lambda other: abs(other - step))[:3]
        raise NotARun(f"{self.name} has no checkpoint at step {step}", allowed=f"e.g. {near}")

    def require_portable(self) -> None:
        """OntogenyError if other processes could not open this series: its function has no name for them."""
        first = self.checkpoints[0] if self.checkpoints else None
        if isinstance(first, MadeCheckpoint) and not importable(first.load):
            raise OntogenyError(
                f"the series {self.name!r} can be measured by this process only",
                received=f"load={first.load!r}, which no other process can import",
                allowed="a function at the top of an importable module",
                remedy="ask for one worker, or give Series.of the name: 'module:function'",
            )


def home_of(series: Path | str | Series, home: Path | str | None = None) -> Path:
    """Where the rows of a series are; it need not be opened for it, nor the hub be asked."""
    if home is not None:
        return Path(home)
    if isinstance(series, Series):
        return series.home
    if str(series).startswith(hub.PREFIX):
        return MEASURED_HOME / _slug(series)
    path = Path(series)
    if (path / MANIFEST).exists():
        return path
    return path.with_name(f"{path.name}.{ROWS_HOME}") if path.is_file() else path / ROWS_HOME


def _slug(where: Path | str) -> str:
    return str(where).removeprefix(hub.PREFIX).replace("/", "--")


def _nothing_at(path: Path, pattern: Pattern | None, notes: Sequence[str]) -> NotARun:
    if notes:
        received = "; ".join(notes)
    elif str(path).startswith(hub.PREFIX):
        received = "no revision whose name gives a step"
    elif not path.exists():
        received = "no such folder or file"
    else:
        received = f"{len(list(path.iterdir()))} entries" if path.is_dir() else "a file in no known format"
    return NotARun(
        f"{path} holds neither a run nor checkpoints",
        received=received if pattern is None else f"{received}; nothing matches {pattern.text!r}",
        allowed=f"a run; checkpoints in a format of {', '.join(known.name for known in FORMATS)}",
        remedy="say with a pattern how they are named, if they have other names than step1000",
    )

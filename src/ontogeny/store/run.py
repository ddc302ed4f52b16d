"""A run: everything recorded about one training, in one folder."""

import math
import secrets
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pandas as pd
from torch import Tensor

from ontogeny.errors import DamageWarning, NotARun, RunExists, UnknownName
from ontogeny.store.array_course import ArrayCourse, array_course, stored_arrays
from ontogeny.store.checkpoint import Checkpoint, list_checkpoints
from ontogeny.store.documents import read_json, write_json
from ontogeny.store.files import Damage, check_writable, named_errors
from ontogeny.store.fits import read_fit
from ontogeny.store.journal import read_journal
from ontogeny.store.labelled import labelled, one_definition
from ontogeny.store.lock import held
from ontogeny.store.rows import read_rows, read_table
from ontogeny.store.telemetry import Journal, Note
from ontogeny.store.verification import verify_folder
from ontogeny.vocabulary import Place

FORMAT = 1
MANIFEST = "run.json"


class Run:
    """Opens for reading whatever state the run is in: finished, running, interrupted or killed."""

    def __init__(self, path: Path, identity: Mapping[str, Any]) -> None:
        self.path = path
        self.identity = dict(identity)

    @classmethod
    def create(cls, path: Path | str, identity: Mapping[str, Any]) -> Self:
        """Make the folder and its `run.json`. RunExists if a run is there, NotWritable if nothing can be,
        RunHeld if another process is making one there at this moment."""
        path = Path(path)
        _require_free(path)
        with named_errors(path):
            path.mkdir(parents=True, exist_ok=True)
        check_writable(path)
        made = {"format": FORMAT, "id": secrets.token_hex(4), "created": time.time(), **identity}
        with held(path, "writer", "written", (".",)):
            _require_free(path)
            for folder in ("journal", "checkpoints", "rows"):
                (path / folder).mkdir(exist_ok=True)
            write_json(path / MANIFEST, made, seal=True)
        return cls(path, read_json(path / MANIFEST, seal=True))

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open a run's folder; NotARun if it is none, Damaged if its `run.json` was changed."""
        path = Path(path)
        if not (path / MANIFEST).is_file():
            raise NotARun(
                f"{path} holds no run",
                received="no run.json" if path.is_dir() else "no such folder",
                allowed="a folder written by the Recorder or `ontogeny train`",
                remedy="`ontogeny show FOLDER` lists the runs below a folder",
            )
        return cls(path, read_json(path / MANIFEST, seal=True))

    def update_identity(self, **changes: Any) -> None:
        """Rewrite `run.json` with some entries changed (the grade, the outcome)."""
        self.identity |= changes
        write_json(self.path / MANIFEST, self.identity, seal=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the run for writing; RunHeld names the process that has it. The lock dies with its process."""
        with held(self.path, "writer", "written", (".", "journal", "checkpoints")):
            yield

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.path.name

    @property
    def id(self) -> str:
        """Eight hex digits drawn when the run was made; the `run` of its rows."""
        return self.identity["id"]

    @property
    def grade(self) -> str:
        """E, D or S; S while nothing has been proven."""
        return self.identity.get("grade", {}).get("letter", "S")

    @property
    def journals(self) -> list[Path]:
        """One file an attempt, in order; each may be framed or compacted."""
        found = {p.stem: p for p in sorted((self.path / "journal").glob("[0-9]*.*"))}
        return [found[stem].with_suffix(".journal") for stem in sorted(found)]

    @property
    def attempts(self) -> int:
        return len(self.journals)

    @property
    def notes(self) -> list[Note]:
        """Events of all attempts: begin, samples, end."""
        return [note for path in self.journals for note in read_journal(path, (), salvage=True).notes]

    @property
    def outcome(self) -> str:
        """`finished`, `interrupted`, `failed`, or `open`: still running, or killed."""
        ends = [note.data["outcome"] for note in self.notes if note.kind == "end"]
        return ends[-1] if ends else "open"

    @property
    def checkpoints(self) -> list[Checkpoint]:
        """Committed checkpoints by step."""
        return list_checkpoints(self.path / "checkpoints")

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of everything recorded, in order of first appearance."""
        return tuple(
            dict.fromkeys(n for path in self.journals for n in read_journal(path, (), salvage=True).names)
        )

    def telemetry(self, *names: str, overlaps: bool = False) -> pd.DataFrame:
        """One row a record that carries any of `names`: step, attempt, seconds, then the metrics.

        Without names, all metrics of the whole model (no `/` in the name). Where attempts overlap, the
        newest is kept, for every metric alike; `overlaps=True` keeps all. The step at which an attempt
        takes up belongs to both. Absent is NaN; recorded NaN and infinities stay what they are. Damage is
        left out with a DamageWarning.
        """
        journals = [self._journal(path, names) for path in self.journals]
        known = {name for journal in journals for name in journal.names}
        for name in names:
            if name not in known:
                raise UnknownName("metric of this run", name, known)
        frames = [_carrying(journal, attempt) for attempt, journal in enumerate(journals)]
        frames = [frame for frame in frames if len(frame)]
        if not frames:
            return pd.DataFrame(columns=["step", "attempt", "seconds", *names])
        joined = pd.concat(_same_integers(frames), ignore_index=True)
        return joined if overlaps else _newest(joined, [_taken_up(journal) for journal in journals])

    @staticmethod
    def _journal(path: Path, names: tuple[str, ...]) -> Journal:
        if not names:
            names = tuple(name for name in read_journal(path, (), salvage=True).names if "/" not in name)
        journal = read_journal(path, names, salvage=True)
        if journal.damage:
            warnings.warn(
                f"{journal.damage[0]}; `ontogeny verify` lists all damage", DamageWarning, stacklevel=3
            )
        return journal

    def table(self, part: str | None = None) -> pd.DataFrame:
        """Measured rows, all or of one part, one number a row."""
        rows = read_rows(self.path)
        if part is None:
            return rows
        if part not in set(rows["part"]):
            raise UnknownName("measured part of this run", part, set(rows["part"]))
        return rows[rows["part"] == part].reset_index(drop=True)

    def rows(self, part: str, component: str = "", stimulus: str | None = None, settings: str | None = None):
        """One part's numbers as a labelled array: step, then every axis of its places (xarray).

        `settings` names parameters other than the defaults, as the table's column of that name has them:
        `run.rows("cka", settings="variant='biased'")`.
        """
        return labelled(self.table(part), part, component, stimulus, settings)

    def arrays(
        self,
        part: str,
        component: str = "",
        stimulus: str | None = None,
        settings: str | None = None,
        **place: int | str,
    ) -> ArrayCourse:
        """What a part keeps beside its numbers, one array a step: `.steps`, `[i]`, `.stacked()`.

        Nothing is read before it is asked for. `run.arrays("token_loss").stacked()` is [step item position].
        """
        table = one_definition(self.table(part), part, stimulus, settings)
        return array_course(table, stored_arrays(self.path), part, component, Place(**place))

    def fit(self, key: str) -> dict[str, Tensor]:
        """The artefact of a fit (a probe, a lens …); rows that rest on it have its key in column `fit`."""
        return read_fit(self.path, key)

    @cached_property
    def transitions(self) -> pd.DataFrame:
        """What `detect` found; empty before it ran."""
        path = self.path / "transitions.parquet"
        return read_table(path).to_pandas() if path.exists() else pd.DataFrame()

    def verify(self) -> list[Damage]:
        """Every file of the run against its checksums; damage names file and record."""
        return verify_folder(self.path, self.identity, self.journals)

    def disk_bytes(self) -> dict[str, int]:
        """Bytes on disk by what they hold."""
        kinds = ("checkpoints", "journal", "tape", "rows", "arrays", "fits")
        return {
            kind: sum(p.stat().st_size for p in (self.path / kind).rglob("*") if p.is_file())
            for kind in kinds
        }


def _require_free(path: Path) -> None:
    if (path / MANIFEST).exists():
        raise RunExists(f"{path} already holds a run", remedy="resume it, or choose another folder")


def _carrying(journal: Journal, attempt: int) -> pd.DataFrame:
    """The records of an attempt that carry any of the metrics that were read."""
    frame = journal.frame().drop(columns="sequence").rename(columns={"attempt": "metric:attempt"})
    frame.insert(1, "attempt", attempt)
    read = dict.fromkeys(name for name, _ in journal.cells)
    carried = {int(record) for name in read for record in journal.column(name)[0]}
    return frame.iloc[sorted(carried)]


def _same_integers(frames: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """Frames whose integer columns agree in sign: signed and unsigned ones would be joined as floats."""
    unsigned = {name for f in frames for name in f if str(f[name].dtype).lower() == "uint64"}
    kept = []
    for frame in frames:
        signed = [
            n
            for n in unsigned & set(frame)
            if str(frame[n].dtype).lower() == "int64" and not (frame[n] < 0).any()
        ]
        kept.append(frame.astype(dict.fromkeys(signed, "UInt64")))
    return kept


def _taken_up(journal: Journal) -> float:
    """The step at which an attempt took up the run; nothing is superseded by one that recorded nothing."""
    if not len(journal):
        return math.inf
    begins = [note.data["step"] for note in journal.notes if note.kind == "begin" and "step" in note.data]
    return begins[0] if begins else int(journal.steps.min())


def _newest(frame: pd.DataFrame, taken_up: list[float]) -> pd.DataFrame:
    """Of every step, the records of its newest attempt, by the steps at which attempts took up the run.

    At that very step the older attempt's records (the loss that led there) stand unless the newer has its
    own.
    """
    kept = []
    for attempt in range(len(taken_up)):
        mine = frame[frame["attempt"] == attempt]
        limit = min(taken_up[attempt + 1 :], default=math.inf)
        again = ((frame["attempt"] > attempt) & (frame["step"] == limit)).any()
        kept.append(mine[mine["step"] < limit] if again else mine[mine["step"] <= limit])
    return pd.concat(kept, ignore_index=True)

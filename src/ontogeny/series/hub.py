"""Checkpoints that are revisions of a repository on a hub: one here at a time, freed when it was loaded.

What is whole in the user's own cache is read there and never touched. Anything else is fetched into a folder
of ours, weights, configuration and tokenizer only, and removed as soon as it was used.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from ontogeny import formats
from ontogeny.errors import ForeignCheckpoint, MissingExtra, NotARun
from ontogeny.formats import Weights
from ontogeny.series.checkpoint import StoredCheckpoint

PREFIX = "hub:"
#: Kinds of weight files; of a revision that has several, the first kind is fetched.
WEIGHTS = (("*.safetensors",), ("pytorch_model*.bin",), ("*.gguf",), ("*.bin", "*.pt", "*.pth"))
NOT_WEIGHTS = ("optimizer*", "scheduler*", "training_args*", "rng_state*", "tokenizer*")
BESIDE = ("config.json", "generation_config.json", "adapter_config.json")
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "special_tokens_map.json")
#: The folder under a series' home that revisions are fetched into; whatever is left there was left by a kill.
FETCHED = "fetched"


@dataclass(frozen=True)
class HubCheckpoint(StoredCheckpoint):
    """A revision (`label`) of a repository, pinned to the commit it was at when the series was opened."""

    repository: str = field(kw_only=True)
    commit: str = field(kw_only=True)
    home: Path = field(kw_only=True)

    @property
    def hash(self) -> str:
        """The commit, in 40 hex digits: a hash of all files of the revision, known without fetching them."""
        return self.commit

    def weights(self) -> Weights:
        """All tensors in memory: the files are gone when this returns."""
        with self.present() as path:
            found = formats.read(path, trust=self.trust)
            return replace(found, tensors=dict(found.tensors))

    @contextmanager
    def present(self) -> Iterator[Path]:
        """The user's cached snapshot, or one fetched for as long as the context lasts.

        ForeignCheckpoint if it cannot be had: gated, absent, offline, without weights.
        """
        cached = self._cached()
        if cached is not None:
            yield cached
            return
        parent = self.home / FETCHED
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", suffix=".temporary", dir=parent) as folder:
            yield self._fetch(Path(folder), self._wanted())

    def tokenizer(self) -> Path:
        """The user's cached snapshot, or a small one of ours that is kept under `home`."""
        return self._cached() or self._fetch(self.home / "tokenizer", TOKENIZER)

    def _cached(self) -> Path | None:
        path = _cache_of(self.repository) / "snapshots" / self.commit
        try:
            return path if path.is_dir() and formats.files(path) else None
        except ForeignCheckpoint:  # no weights in it, or not all of them
            return None

    def _wanted(self) -> list[str]:
        with self._asking():
            names = _hub().HfApi().list_repo_files(self.repository, revision=self.commit)
        weights = chosen_weights(names)
        if not weights:
            raise self._unreachable(f"files: {', '.join(sorted(names)[:8])}", "a revision with weights")
        return [*weights, *(name for name in names if _matches(name, (*BESIDE, *TOKENIZER)))]

    def _fetch(self, cache: Path, wanted: Sequence[str]) -> Path:
        with self._asking():
            return Path(
                _hub().snapshot_download(
                    self.repository, revision=self.commit, cache_dir=cache, allow_patterns=list(wanted)
                )
            )

    @contextmanager
    def _asking(self) -> Iterator[None]:
        if _hub().constants.HF_HUB_OFFLINE:
            raise self._unreachable("offline (HF_HUB_OFFLINE), and it is not in the local cache")
        try:
            yield
        except Exception as error:  # the hub's client raises those of three HTTP libraries, by its version
            raise self._unreachable(_reason(error)) from error

    def _unreachable(self, reason: str, allowed: str | None = None) -> ForeignCheckpoint:
        return ForeignCheckpoint(
            f"revision {self.label!r} of {self.repository} cannot be had",
            received=reason,
            allowed=allowed,
            remedy="ask for access and log in with `hf auth login` if it is gated; else leave it out "
            "with a pattern, or fetch it beforehand with `hf download`",
        )


def chosen_weights(names: Sequence[str]) -> list[str]:
    """The weight files of one kind among a repository's files, with their index; none from its subfolders."""
    top = [name for name in names if "/" not in name and not _matches(name, NOT_WEIGHTS)]
    for kind in WEIGHTS:
        found = [name for name in top if _matches(name, kind)]
        if found:
            return [*found, *(name for name in top if _matches(name, [f"{k}.index.json" for k in kind]))]
    return []


def revisions(repository: str) -> tuple[dict[str, str], list[str]]:
    """Commits by the names of branches and tags, and notes.

    Offline, or where the hub cannot be reached at all, those of the local cache; NotARun if there are none,
    or the repository is absent or gated.
    """
    hub = _hub()
    cached = _cached_revisions(repository)
    if hub.constants.HF_HUB_OFFLINE:
        reason = "offline (HF_HUB_OFFLINE)"
    else:
        try:
            refs = hub.HfApi().list_repo_refs(repository)
            return {ref.name: ref.target_commit for ref in (*refs.branches, *refs.tags)}, []
        except Exception as error:  # as above
            reason = _reason(error)
            if hasattr(error, "response") or isinstance(error, ValueError):
                cached = {}  # the hub has answered: it is not there, or not for everybody
    if cached:
        return cached, [f"{reason}: these are the {len(cached)} revisions in the local cache"]
    raise NotARun(
        f"{PREFIX}{repository} cannot be opened",
        received=reason,
        allowed="hub:OWNER/NAME, a model repository that this machine may read, or has in its cache",
        remedy="check the name; log in with `hf auth login` if it is gated or private",
    )


def _cached_revisions(repository: str) -> dict[str, str]:
    folder = _cache_of(repository)
    refs = folder / "refs"
    found = {p.relative_to(refs).as_posix(): p.read_text().strip() for p in refs.rglob("*") if p.is_file()}
    return {
        name: commit
        for name, commit in found.items()
        if not name.startswith("refs/") and (folder / "snapshots" / commit).is_dir()  # of pull requests
    }


def _cache_of(repository: str) -> Path:
    return Path(_hub().constants.HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}"


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _reason(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:3])}"


def _hub() -> Any:
    try:
        import huggingface_hub.constants  # an optional extra, and slow to import
    except ImportError as error:
        raise MissingExtra(
            "a hub's revisions cannot be read",
            received="no huggingface_hub",
            remedy="pip install 'ontogeny[hf]'",
        ) from error
    return huggingface_hub

"""A checkpoint on disk: one folder that exists whole or not at all, with a hash of every tensor in it.

    000400/  model.safetensors  optimizer.safetensors  config.json  state.json  manifest.json

The manifest is written last, into a temporary folder that is then renamed. It is sealed, and holds the hash
of every tensor and file: whatever changes later is found when it is read, and named.
"""

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
import xxhash
from torch import Tensor

from ontogeny.errors import BadContract, Damaged, NotARun, RunExists, UnknownName
from ontogeny.store.documents import parse_json, read_json, write_json
from ontogeny.store.files import Damage, Written, commit_folder, named_errors, temporary_beside, write_file
from ontogeny.store.tensorfile import Span, read_header, read_tensor, storable, write_tensors
from ontogeny.vocabulary import digest

FORMAT = 1
MANIFEST = "manifest.json"
_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True)
class TensorEntry:
    """A stored tensor: dtype and shape as it was given, its xxh3-64 (of `vocabulary.digest`) in hex."""

    dtype: str
    shape: list[int]
    hash: str


@dataclass(frozen=True)
class Manifest:
    """What a checkpoint holds. `hash` is the xxh3-64, in hex, over the sorted names and hashes of the
    tensors of "model": equal weights under equal names give equal hashes, whatever else is stored."""

    step: int
    hash: str
    tensors: Mapping[str, Mapping[str, TensorEntry]]
    files: Mapping[str, Written]
    metadata: Mapping[str, Any] = field(default_factory=dict)


def write_checkpoint(
    folder: Path | str,
    *,
    tensors: Mapping[str, Mapping[str, Tensor]],
    documents: Mapping[str, dict[str, Any]],
    step: int,
    metadata: dict[str, Any],
    proceed: Callable[[], None] = lambda: None,
) -> Manifest:
    """Commit a checkpoint as `folder`: `<key>.safetensors` for each key of `tensors`, `<key>.json` for each
    of `documents`, and the manifest.

    Tensors keep their bits: 0-dimensional, empty, complex (stored as pairs of reals), bool, bf16, integer,
    strided or sharing memory. `proceed` is called before every write of tensors and before the commit; what
    it raises ends the writing. On failure nothing is left and the call may be repeated. Raises RunExists if
    the folder exists, BadContract for what cannot be stored, and the errors of `write_file`.
    """
    folder = Path(folder)
    _require_keys(tensors, documents)
    if folder.exists():
        raise RunExists(
            f"checkpoint {folder} exists", remedy="a checkpoint is never overwritten: remove it first"
        )
    temporary = temporary_beside(folder)
    with named_errors(folder):
        temporary.mkdir()
    try:
        entries: dict[str, dict[str, TensorEntry]] = {}
        written: dict[str, Written] = {}
        for key, group in tensors.items():
            entries[key], written[f"{key}.safetensors"] = _write_group(
                temporary / f"{key}.safetensors", group, proceed
            )
        for key, document in documents.items():
            written[f"{key}.json"] = write_json(temporary / f"{key}.json", document)
        model = {name: entry.hash for name, entry in entries.get("model", {}).items()}
        manifest = Manifest(step, hash_of_tensors(model), entries, written, metadata)
        write_json(temporary / MANIFEST, {"format": FORMAT, **asdict(manifest)}, seal=True)
        proceed()
        commit_folder(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return manifest


def _require_keys(tensors: Mapping[str, Any], documents: Mapping[str, Any]) -> None:
    for key in (*tensors, *documents):
        if not _KEY.fullmatch(key) or key == "manifest":
            raise BadContract(
                "a part of a checkpoint has a name that no file can bear everywhere",
                received=repr(key)[:200],
                allowed="letters, digits, '_', '-', '.', at most 64; not 'manifest'",
            )


def _write_group(
    path: Path, group: Mapping[str, Tensor], proceed: Callable[[], None]
) -> tuple[dict[str, TensorEntry], Written]:
    dense = {name: storable(tensor, name) for name, tensor in group.items()}
    written = write_file(path, lambda file: write_tensors(file, dense, {"format": "pt"}), proceed)
    entries = {
        name: TensorEntry(
            _dtype_name(tensor.dtype), list(tensor.shape), _hex(_restored(dense[name], tensor.dtype))
        )
        for name, tensor in group.items()
    }
    return entries, written


def _restored(stored: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.view_as_complex(stored) if dtype.is_complex else stored


def _dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _hex(tensor: Tensor) -> str:
    return f"{digest([tensor]):016x}"


def hash_of_tensors(hashes: Mapping[str, str]) -> str:
    """One hash over tensors' names and hashes, whatever their order."""
    lines = [f"{len(name)} {name} {hashes[name]}\n" for name in sorted(hashes)]
    return xxhash.xxh3_64_hexdigest("".join(lines).encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class Checkpoint:
    """A committed checkpoint. Its manifest has been read; tensors and documents are read when asked for."""

    folder: Path
    manifest: Manifest

    @property
    def step(self) -> int:
        return self.manifest.step

    @property
    def hash(self) -> str:
        return self.manifest.hash

    def tensors(self, key: str) -> dict[str, Tensor]:
        """The tensors of one part, in memory of their own and in the order they were given.

        Raises Damaged, naming file and tensor, if any of them is not what was written; UnknownName.
        """
        if key not in self.manifest.tensors:
            raise UnknownName("group of tensors", key, self.manifest.tensors)
        damage: list[Damage] = []
        read = self._read_group(key, damage)
        if damage:
            raise Damaged(
                f"checkpoint {self.folder}: {damage[0]}",
                remedy="use another checkpoint, or restore this one from a copy",
            )
        return read

    def document(self, key: str) -> Any:
        """One document. Raises Damaged if its bytes are not those written; UnknownName."""
        name = f"{key}.json"
        if name not in self.manifest.files:
            known = [file.removesuffix(".json") for file in self.manifest.files if file.endswith(".json")]
            raise UnknownName("document", key, known)
        damage = self._broken_file(name)
        if damage:
            raise Damaged(f"checkpoint {self.folder}: {damage}", remedy="restore the file from a copy")
        return parse_json((self.folder / name).read_bytes(), str(self.folder / name))

    def verify(self) -> list[Damage]:
        """Read everything and list what is not as it was written, by file and, where one can say, tensor."""
        found: list[Damage] = []
        for name in self.manifest.files:
            broken = self._broken_file(name)
            if broken is None:
                continue
            tensors: list[Damage] = []
            if name.endswith(".safetensors"):
                self._read_group(name.removesuffix(".safetensors"), tensors)
            found.extend(tensors or [broken])
        return found

    def _broken_file(self, name: str) -> Damage | None:
        expected, state, size = self.manifest.files[name], xxhash.xxh3_128(), 0
        try:
            with open(self.folder / name, "rb") as file:
                while data := file.read(1 << 20):
                    state.update(data)
                    size += len(data)
        except OSError as error:
            return Damage(name, 0, expected.bytes, f"it cannot be read: {error.strerror}")
        if Written(size, state.hexdigest()) == expected:
            return None
        return Damage(name, 0, size, f"not the {expected.bytes} bytes that were written")

    def _read_group(self, key: str, damage: list[Damage]) -> dict[str, Tensor]:
        """Read a part tensor by tensor, and write down every one that is not what the manifest says."""
        name = f"{key}.safetensors"
        try:
            spans = read_header(self.folder / name)
        except (Damaged, NotARun) as error:
            damage.append(Damage(name, 0, self.manifest.files[name].bytes, str(error).replace("\n", ";")))
            return {}
        read: dict[str, Tensor] = {}
        with open(self.folder / name, "rb") as file:
            for tensor, entry in self.manifest.tensors[key].items():
                span = spans.pop(tensor, None)
                found = self._read_entry(file, entry, span)
                if isinstance(found, Tensor):
                    read[tensor] = found
                else:
                    start, length = (span.start, span.end - span.start) if span else (0, 0)
                    damage.append(Damage(name, start, length, f"tensor {tensor!r} {found}"))
        damage.extend(
            Damage(name, span.start, span.end - span.start, f"tensor {tensor!r} is not in the manifest")
            for tensor, span in spans.items()
        )
        return read

    def _read_entry(self, file: Any, entry: TensorEntry, span: Span | None) -> Tensor | str:
        if span is None:
            return "is missing"
        dtype = getattr(torch, entry.dtype)
        stored = (torch.empty(0, dtype=dtype).real.dtype, (*entry.shape, 2)) if dtype.is_complex else None
        if (span.dtype, span.shape) != (stored or (dtype, tuple(entry.shape))):
            return f"has become {span.dtype} {span.shape}"
        try:
            tensor = _restored(read_tensor(file, span), dtype)
        except (EOFError, OSError) as error:
            return f"cannot be read: {error}"
        return tensor if _hex(tensor) == entry.hash else "does not match its hash"


def open_checkpoint(folder: Path | str) -> Checkpoint:
    """Open a committed checkpoint. Raises NotARun if there is no manifest, Damaged if it has changed."""
    folder = Path(folder)
    try:
        document = read_json(folder / MANIFEST, seal=True)
    except NotARun as error:
        raise NotARun(
            f"{folder} holds no checkpoint: there is no {MANIFEST}", remedy="check the path"
        ) from error
    if document.get("format") != FORMAT:
        raise Damaged(f"{folder} has another format", received=document.get("format"), allowed=str(FORMAT))
    tensors = {
        key: {name: TensorEntry(**entry) for name, entry in group.items()}
        for key, group in document["tensors"].items()
    }
    files = {name: Written(**entry) for name, entry in document["files"].items()}
    return Checkpoint(
        folder, Manifest(document["step"], document["hash"], tensors, files, document["metadata"])
    )


def list_checkpoints(parent: Path | str, damage: list[Damage] | None = None) -> list[Checkpoint]:
    """The committed checkpoints in `parent`, by step; folders without a manifest are none.

    One whose manifest is damaged raises Damaged, or is added to `damage` if a list is given.
    """
    found: list[Checkpoint] = []
    for manifest in sorted(Path(parent).glob(f"*/{MANIFEST}")):
        if manifest.parent.name.startswith("."):
            continue
        try:
            found.append(open_checkpoint(manifest.parent))
        except Damaged as error:
            if damage is None:
                raise
            name = f"{manifest.parent.name}/{MANIFEST}"
            damage.append(Damage(name, 0, manifest.stat().st_size, error.what))
    return sorted(found, key=lambda checkpoint: checkpoint.step)

"""Artefacts of fits: probes, lenses, dictionaries, in packs of tensors under `fits/`, verified on reading.

A measured checkpoint writes one pack; `compact_fits` makes one of many. Tensors are called `KEY/NAME`, and
the header holds the digest of each.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import xxhash
from torch import Tensor

from ontogeny.errors import Damaged, UnknownName
from ontogeny.store.arrays import array_hash
from ontogeny.store.files import Damage, write_file
from ontogeny.store.tensorfile import (
    Span,
    read_header,
    read_metadata,
    read_tensor,
    storable,
    write_tensors,
)


def write_fits(home: Path, artefacts: Mapping[str, Mapping[str, Tensor]]) -> Path | None:
    """Write one pack of artefacts by key, if there are any."""
    tensors = {
        f"{key}/{name}": storable(tensor, name)
        for key, artefact in artefacts.items()
        for name, tensor in artefact.items()
    }
    return _write(home, tensors) if tensors else None


def _write(home: Path, tensors: Mapping[str, Tensor]) -> Path:
    digests = {name: array_hash(tensor) for name, tensor in tensors.items()}
    whole = xxhash.xxh3_64_hexdigest(repr(sorted(digests.items())).encode())
    path = home / "fits" / f"{whole}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, lambda file: write_tensors(file, tensors, digests))
    return path


def fit_keys(home: Path) -> set[str]:
    """Keys of all artefacts under `home`: what rows have in their column `fit`."""
    return {name.rpartition("/")[0] for pack in _packs(home) for name in read_header(pack)}


def read_fit(home: Path, key: str) -> dict[str, Tensor]:
    """One artefact; UnknownName if there is none of that key, Damaged if its bytes were changed."""
    found: dict[str, Tensor] = {}
    for pack in _packs(home):
        spans = {name: span for name, span in read_header(pack).items() if name.rpartition("/")[0] == key}
        found |= {name.rpartition("/")[2]: tensor for name, tensor in _load(pack, spans).items()}
    if not found:
        raise UnknownName("artefact of a fit", key, fit_keys(home))
    return found


def compact_fits(home: Path) -> None:
    """Make one pack of all packs; the old ones go only after the new one is durable."""
    packs = _packs(home)
    if len(packs) < 2:
        return
    merged: dict[str, Tensor] = {}
    for pack in sorted(packs, key=lambda path: path.stat().st_mtime_ns):  # of one key the newest stays
        merged |= _load(pack, read_header(pack))
    kept = _write(home, merged)
    for pack in packs:
        if pack != kept:
            pack.unlink()


def verify_fits(home: Path) -> list[Damage]:
    """Packs whose bytes are not what their headers say."""
    damage = []
    for pack in _packs(home):
        try:
            _load(pack, read_header(pack))
        except Damaged as error:
            damage.append(Damage(str(pack.relative_to(home)), 0, pack.stat().st_size, error.what))
    return damage


def _packs(home: Path) -> list[Path]:
    return sorted(p for p in (home / "fits").glob("*.safetensors") if not p.name.startswith("."))


def _load(pack: Path, spans: Mapping[str, Span]) -> dict[str, Tensor]:
    said = read_metadata(pack)
    with pack.open("rb") as file:
        tensors = {name: read_tensor(file, span) for name, span in spans.items()}
    for name in _wrong(tensors, said):
        raise Damaged(
            f"{pack}: {name} is not what its header says",
            received=array_hash(tensors[name]),
            remedy="delete this file and the rows of its parts, and measure again",
        )
    return tensors


def _wrong(tensors: Mapping[str, Tensor], said: Mapping[str, str]) -> Iterable[str]:
    return (name for name, tensor in tensors.items() if said.get(name) != array_hash(tensor))

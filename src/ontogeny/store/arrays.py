"""Arrays by content hash: vectors a row points at, in packs that are verified on reading.

A pack is one safetensors file whose tensor names are the tensors' own digests, so a wrong bit is found
by hashing what was read.
"""

from collections.abc import Mapping
from pathlib import Path

import xxhash
from torch import Tensor

from ontogeny.errors import Damaged
from ontogeny.store.files import Damage, write_file
from ontogeny.store.tensorfile import Span, read_header, read_tensor, storable, write_tensors
from ontogeny.vocabulary import digest


def array_hash(tensor: Tensor) -> str:
    """The name of an array: sixteen hex digits over its bytes, shape and dtype."""
    return f"{digest([tensor]):016x}"


def write_arrays(home: Path, tensors: Mapping[str, Tensor]) -> Path | None:
    """Write one pack under `home/arrays`, if there is anything; keys are the arrays' own hashes."""
    if not tensors:
        return None
    folder = home / "arrays"
    folder.mkdir(parents=True, exist_ok=True)
    name = xxhash.xxh3_64_hexdigest("".join(sorted(tensors)).encode())
    dense = {key: storable(tensor, key) for key, tensor in tensors.items()}
    path = folder / f"{name}.safetensors"
    write_file(path, lambda file: write_tensors(file, dense, {}))
    return path


def array_names(home: Path) -> set[str]:
    """Hashes of all arrays under `home`; Damaged if a pack cannot say what it holds."""
    return {name for pack in _packs(home) for name in read_header(pack)}


def _packs(home: Path) -> list[Path]:
    return sorted(p for p in (home / "arrays").glob("*.safetensors") if not p.name.startswith("."))


def _load(pack: Path) -> dict[str, Tensor]:
    spans = read_header(pack)
    with pack.open("rb") as file:
        tensors = {name: read_tensor(file, span) for name, span in spans.items()}
    for name, tensor in tensors.items():
        _verify(pack, name, tensor)
    return tensors


def _verify(pack: Path, name: str, tensor: Tensor) -> None:
    if array_hash(tensor) != name:
        raise Damaged(
            f"{pack}: array {name} is not what its name says",
            received=array_hash(tensor),
            remedy="delete this file and measure again; other files are untouched",
        )


def read_arrays(home: Path, hashes: set[str]) -> dict[str, Tensor]:
    """The arrays of the given hashes; Damaged if one is missing or wrong."""
    found: dict[str, Tensor] = {}
    for pack in _packs(home):
        if hashes & set(read_header(pack)):
            loaded = _load(pack)
            found |= {name: loaded[name] for name in hashes & set(loaded)}
    if missing := hashes - set(found):
        raise Damaged(f"{len(missing)} arrays are missing from {home / 'arrays'}", received=min(missing))
    return found


class ArrayPacks:
    """The packs under `home` as they are now; reads one array without the others beside it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._spans: dict[str, tuple[Path, Span]] = {}
        for pack in _packs(home):
            self._spans |= {name: (pack, span) for name, span in read_header(pack).items()}

    def read(self, name: str) -> Tensor:
        """The array of a hash; Damaged if it is missing or its bytes are not what its name says."""
        if name not in self._spans:
            raise Damaged(f"an array is missing from {self.home / 'arrays'}", received=name)
        pack, span = self._spans[name]
        with pack.open("rb") as file:
            tensor = read_tensor(file, span)
        _verify(pack, name, tensor)
        return tensor


def compact_arrays(home: Path) -> None:
    """Make one pack of all packs; the old ones go only after the new one is durable."""
    packs = _packs(home)
    if len(packs) < 2:
        return
    merged: dict[str, Tensor] = {}
    for pack in packs:
        merged |= _load(pack)
    kept = write_arrays(home, merged)
    for pack in packs:
        if pack != kept:
            pack.unlink()


def verify_arrays(home: Path) -> list[Damage]:
    """Packs whose bytes are not what their names say."""
    damage = []
    for pack in _packs(home):
        try:
            _load(pack)
        except Damaged as error:
            damage.append(Damage(str(pack.relative_to(home)), 0, pack.stat().st_size, error.what))
    return damage

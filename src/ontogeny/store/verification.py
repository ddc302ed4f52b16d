"""Every file of a run against its checksums."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import xxhash

from ontogeny.errors import Damaged
from ontogeny.store.arrays import verify_arrays
from ontogeny.store.checkpoint import list_checkpoints
from ontogeny.store.files import Damage
from ontogeny.store.fits import verify_fits
from ontogeny.store.journal import verify_journal
from ontogeny.store.rows import read_table, verify_rows
from ontogeny.store.tape import Tape

#: Files that are written once beside the checkpoints and linked from them; their hashes are in `run.json`.
TOKENIZER = "tokenizer"


def file_hash(path: Path) -> str:
    """xxh3-128 of a file's bytes."""
    return xxhash.xxh3_128_hexdigest(path.read_bytes())


def verify_folder(path: Path, identity: Mapping[str, Any], journals: Iterable[Path]) -> list[Damage]:
    """All damage in a run's folder, by file; empty if every byte is what was written."""
    damage = [_below("journal", one) for journal in journals for one in verify_journal(journal)]
    broken: list[Damage] = []
    for checkpoint in list_checkpoints(path / "checkpoints", broken):
        damage += [_below(f"checkpoints/{checkpoint.folder.name}", one) for one in checkpoint.verify()]
    damage += [replace(one, file=f"checkpoints/{one.file}") for one in broken]
    damage += [_below("tape", one) for one in Tape(path / "tape").verify()]
    damage += verify_rows(path) + verify_arrays(path) + verify_fits(path)
    damage += _verify_tokenizer(path / TOKENIZER, identity.get(TOKENIZER, {}))
    if (table := path / "transitions.parquet").exists():
        try:
            read_table(table)
        except Damaged as error:
            damage.append(Damage(table.name, 0, table.stat().st_size, str(error.received)))
    return damage


def _verify_tokenizer(folder: Path, hashes: Mapping[str, str]) -> list[Damage]:
    damage = []
    for name, expected in hashes.items():
        path = folder / name
        if not path.exists():
            damage.append(Damage(f"{TOKENIZER}/{name}", 0, 0, "the file is missing"))
        elif file_hash(path) != expected:
            damage.append(Damage(f"{TOKENIZER}/{name}", 0, path.stat().st_size, "it does not match its hash"))
    return damage


def _below(folder: str, damage: Damage) -> Damage:
    return replace(damage, file=f"{folder}/{Path(damage.file).name}")

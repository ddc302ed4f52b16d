"""One or several safetensors files as one checkpoint, read tensor by tensor."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ontogeny.errors import Damaged, ForeignCheckpoint
from ontogeny.formats.canonical import canonical_names, examples, require_whole_names
from ontogeny.formats.weights import StoredTensors, Weights
from ontogeny.store.tensorfile import Span, read_header, read_metadata

LARGEST_DOCUMENT = 64 << 20


def weights_in(files: Sequence[Path], config: Mapping[str, Any], tokenizer: Path | None = None) -> Weights:
    """The tensors of all files under canonical names.

    Other names of tied tensors are taken from a file's metadata, where `safetensors.torch.save_model` puts
    them. Errors: Damaged for a file that is no whole safetensors file; ForeignCheckpoint if two files hold
    one name, or if the names say that the values are elsewhere.
    """
    held: dict[str, tuple[Path, Span]] = {}
    tied: dict[str, str] = {}
    for path in files:
        spans = read_header(path)
        if twice := held.keys() & spans.keys():
            raise ForeignCheckpoint(
                f"{path.parent} holds tensors twice",
                received=examples(twice),
                allowed="every tensor in one file",
                remedy="remove the files of an earlier save",
            )
        held |= {name: (path, span) for name, span in spans.items()}
        tied |= {name: kept for name, kept in read_metadata(path).items() if kept in spans}
    require_whole_names(held)
    require_shards(held)
    names, notes = canonical_names(held)
    aliases, _ = canonical_names([name for name in tied if name not in held])
    return Weights(
        StoredTensors({names[name]: found for name, found in held.items()}),
        config=config,
        aliases={aliases[name]: names[kept] for name, kept in tied.items() if name in aliases},
        tokenizer=tokenizer,
        notes=notes,
    )


def require_shards(held: Mapping[str, tuple[Path, Span]]) -> None:
    """ForeignCheckpoint if most tensors are empty: what a process of DeepSpeed ZeRO-3 saves on its own."""
    empty = [name for name, (_, span) in held.items() if span.shape == (0,)]
    if 2 * len(empty) > len(held):
        raise ForeignCheckpoint(
            "these tensors do not hold the model's values",
            received=f"partitioned: each process holds its part and leaves these empty: {examples(empty)}",
            remedy="gather the full state dict before saving",
        )


def indexed_files(index: Path) -> tuple[Path, ...]:
    """The files an index names. ForeignCheckpoint if some are missing, or lie outside the folder."""
    document = read_document(index)
    named = document.get("weight_map")
    if not isinstance(named, dict) or not all(isinstance(file, str) for file in named.values()):
        raise Damaged(f"{index} is no index of weights", allowed="an object weight_map of names to files")
    files = sorted(set(named.values()))
    strange = [file for file in files if Path(file).name != file]
    missing = [file for file in files if not strange and not (index.parent / file).is_file()]
    if strange or missing:
        raise ForeignCheckpoint(
            f"{index.parent} holds a part of its checkpoint" if missing else f"{index} names files elsewhere",
            received=f"missing: {examples(missing)}" if missing else examples(strange),
            allowed=f"all {len(files)} files that {index.name} names, beside it",
            remedy="finish the download, or remove the folder from the series",
        )
    return tuple(index.parent / file for file in files)


def read_document(path: Path) -> dict[str, Any]:
    """A JSON object of modest size. Damaged if it is none; NotARun never: the caller has looked."""
    try:
        if path.stat().st_size > LARGEST_DOCUMENT:
            raise Damaged(f"{path} is too large to be a document", received=f"{path.stat().st_size:,} bytes")
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise Damaged(f"{path} cannot be read", received=str(error)) from error
    if not isinstance(document, dict):
        raise Damaged(f"{path} holds a {type(document).__name__}", allowed="a JSON object")
    return document

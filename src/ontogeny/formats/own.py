"""A checkpoint folder of ours: everything is verified against its manifest as it is read."""

from pathlib import Path

from ontogeny.formats.canonical import canonical_names
from ontogeny.formats.weights import NO_PICKLES, Trust, Weights
from ontogeny.store.checkpoint import MANIFEST, open_checkpoint

name = "ontogeny"
looks_like = f"a folder with {MANIFEST}"


def claims(path: Path) -> bool:
    return (path / MANIFEST).is_file()


def files(path: Path) -> tuple[Path, ...]:
    found = [path / file for file in ("config.json", "model.safetensors") if (path / file).is_file()]
    return (*found, path / MANIFEST)


def read(path: Path, *, trust: Trust = NO_PICKLES) -> Weights:
    checkpoint = open_checkpoint(path)
    held = checkpoint.tensors("model")
    names, notes = canonical_names(held)
    known = "config.json" in checkpoint.manifest.files
    return Weights(
        {names[name]: tensor for name, tensor in held.items()},
        config=checkpoint.document("config") if known else {},
        tokenizer=path if (path / "tokenizer.json").is_file() else None,
        notes=notes if known else (*notes, "the checkpoint does not say which architecture it belongs to"),
    )

"""What this machine can do."""

import importlib.metadata
import os
import sys
import tempfile

import torch
from rich.console import Console

from ontogeny.catalogue import parts
from ontogeny.store.files import check_writable, free_bytes

console = Console(highlight=False)


def examine() -> bool:
    """Print one line a finding; False if something needed does not work."""
    fine = True
    console.print(f"python {sys.version.split()[0]}, torch {torch.__version__}, {os.cpu_count()} cores")
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "none; everything runs on the CPU"
    console.print(f"accelerator: {device}")
    threads = os.environ.get("OMP_NUM_THREADS")
    if threads is None:
        console.print("OMP_NUM_THREADS is not set: commands use one thread; in your own loop set it to 1 or")
        console.print("  call torch.set_num_threads, since equal bits need an equal number of threads")
    for name, use in (("transformers", "checkpoints of other tools: pip install 'ontogeny[hf]'"),):
        try:
            console.print(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            console.print(f"{name}: missing; needed for {use}")
    fine &= _deterministic()
    with tempfile.TemporaryDirectory() as folder:
        check_writable(folder)
    console.print(f"{free_bytes('.') / 1e9:.1f} GB free here")
    console.print(
        f"{len(parts('instrument'))} instruments, {len(parts('objective'))} objectives in the catalogue"
    )
    return fine


def _deterministic() -> bool:
    """The same product twice, bit for bit."""
    torch.set_num_threads(1)
    matrix = torch.randn(256, 256, generator=torch.Generator().manual_seed(0))
    same = torch.equal(matrix @ matrix, matrix @ matrix)
    console.print("matrix products repeat exactly" if same else "matrix products do NOT repeat exactly")
    return same

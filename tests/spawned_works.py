"""What spawned workers do, in a module that imports nothing heavy: torch costs seconds in each of them."""

from importlib import import_module
from pathlib import Path

from ontogeny.errors import RunHeld
from ontogeny.store.lock import held


def refused(folder: str, holder: int, module: str) -> None:
    """Import a module, then try to hold a run that another process holds; anything but its refusal raises."""
    import_module(module)
    try:
        with held(Path(folder), "writer", "written"):
            pass
    except RunHeld as error:
        if f"process {holder} " not in str(error):
            raise AssertionError("another holder is named") from error
        return
    raise AssertionError("two hold one run")

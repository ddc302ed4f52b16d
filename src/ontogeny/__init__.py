"""ontogeny: the laboratory for the training dynamics of neural networks.

    from ontogeny import Run
    run = Run.open("runs/demo/induction")
    run.telemetry("loss")          # a DataFrame
    run.rows("induction")          # a labelled array: step, layer, head
    run.transitions                # what formed, when, how sure

The stages are functions in modules of the same name: `ontogeny.measure.measure`, `ontogeny.detect.detect`.

The public names are imported when they are first used: torch takes seconds, `ontogeny --help` should not.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontogeny.record.recipe import load_recipe
    from ontogeny.record.recorder import Recorder
    from ontogeny.record.train import train
    from ontogeny.report.widget import show
    from ontogeny.series import Series
    from ontogeny.store.collection import Runs
    from ontogeny.store.run import Run

__version__ = version("ontogeny")

__all__ = ["Recorder", "Run", "Runs", "Series", "load_recipe", "show", "train"]

_HOMES = {
    "Recorder": "ontogeny.record.recorder",
    "Run": "ontogeny.store.run",
    "Runs": "ontogeny.store.collection",
    "Series": "ontogeny.series",
    "load_recipe": "ontogeny.record.recipe",
    "show": "ontogeny.report.widget",
    "train": "ontogeny.record.train",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ontogeny' has no attribute {name!r}")

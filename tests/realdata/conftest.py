import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

STUDIES = Path(__file__).parents[2] / "docs" / "real_data"


@pytest.fixture(scope="session")
def study() -> Callable[[str], ModuleType]:
    """A module of docs/real_data, which is run by hand and is no package."""

    def load(name: str) -> ModuleType:
        sys.path.insert(0, str(STUDIES))
        try:
            return importlib.import_module(name)
        finally:
            sys.path.remove(str(STUDIES))

    return load

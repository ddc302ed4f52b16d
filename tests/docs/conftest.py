import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def loaded(name: str) -> ModuleType:
    """A module of docs/, which is no package: its files are run by hand."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(DOCS))


@pytest.fixture(scope="session")
def reference() -> ModuleType:
    return loaded("reference")


@pytest.fixture(scope="session")
def statuses() -> ModuleType:
    return loaded("statuses")


@pytest.fixture(scope="session")
def pictures() -> ModuleType:
    return loaded("pictures")

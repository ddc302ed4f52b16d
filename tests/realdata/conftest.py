import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="session")
def studies() -> ModuleType:
    """docs/real_data.py, which is run by hand: docs/ is no package."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module("real_data")
    finally:
        sys.path.remove(str(DOCS))

"""The made-up run as a fixture."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def made_up() -> ModuleType:
    path = Path(__file__).with_name("tables.py")
    spec = importlib.util.spec_from_file_location("made_up_tables", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

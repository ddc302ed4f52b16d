"""Builds the front end into the wheel and the sdist; an editable install leaves that to `make web`."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class FrontEnd(BuildHookInterface):
    """Runs web/build.py, which does nothing where the built files are up to date (as in an sdist)."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        script = Path(self.root) / "web" / "build.py"
        if version != "editable" and script.is_file():
            subprocess.run([sys.executable, str(script)], check=True)

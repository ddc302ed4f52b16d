"""The built script and style sheet of interactive pages, where this installation has them.

A wheel ships them; a checkout has them after `make web`. Without them a report is drawn by matplotlib alone.
"""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class Bundle:
    """A script that needs nothing else, and its style sheet, both fit to stand inside a page."""

    script: str
    style: str

    @property
    def hash(self) -> str:
        """The script as a content security policy names it."""
        digest = hashlib.sha256(self.script.encode("utf-8")).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def built_bundle() -> Bundle | None:
    """The bundle of this installation, or None where it was not built."""
    static = resources.files("ontogeny.dashboard").joinpath("static")
    script, style = static.joinpath("report.js"), static.joinpath("report.css")
    if not (script.is_file() and style.is_file()):
        return None
    return Bundle(
        inert(script.read_text(encoding="utf-8"), "script"), inert(style.read_text(encoding="utf-8"), "style")
    )


def inert(text: str, tag: str) -> str:
    """Code that cannot end the element it stands in; `<\\/script` is the same to JavaScript and to CSS."""
    return text.replace("\r\n", "\n").replace(f"</{tag}", f"<\\/{tag}").replace("<!--", "<\\!--")

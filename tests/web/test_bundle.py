"""What is shipped: small, the same every time, with its notices, and without an address in it."""

import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ontogeny.report.theme import DARK, LIGHT
from web.conftest import WEB, need


def test_the_bundles_are_small(static: Path) -> None:
    size = lambda name: len(gzip.compress((static / name).read_bytes(), 9))
    page = sum(map(size, ("index.html", "assets/app.js", "assets/app.css")))
    assert page <= 300_000
    assert size("report.js") + size("report.css") <= 100_000
    assert sorted(path.name for path in (static / "assets").iterdir()) == ["app.css", "app.js"]


def test_two_builds_give_the_same_bytes(static: Path, tmp_path: Path) -> None:
    need(shutil.which("node") is not None and (WEB / "node_modules").is_dir(), "Node with web/node_modules")
    subprocess.run(
        ["node", "build.mjs"], cwd=WEB, env=os.environ | {"ONTOGENY_STATIC": str(tmp_path)}, check=True
    )
    built = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert built == {path.relative_to(static) for path in static.rglob("*") if path.is_file()} - {
        Path("SOURCE")
    }
    for path in built:
        assert (tmp_path / path).read_bytes() == (static / path).read_bytes(), path


def test_the_page_asks_for_nothing_inline_and_nothing_abroad(static: Path) -> None:
    page = (static / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=\"\./)[^>]*>", page)
    assert not re.search(r"(?:src|href)=\"(?!\./|data:,)", page)
    for name in ("assets/app.js", "report.js", "widget.js"):
        bundle = (static / name).read_text()
        assert not re.search(r"\beval\(|new Function\(", bundle), name
        # Names of XML vocabularies are no addresses: nobody asks for them.
        assert set(re.findall(r"https?://[\w./-]+", bundle)) <= {
            "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml", "http://www.w3.org/1998/Math/MathML",
        }, name  # fmt: skip


def test_no_source_writes_html_from_text() -> None:
    for path in [*(WEB / "src").rglob("*.ts"), *(WEB / "src").rglob("*.tsx")]:
        source = path.read_text()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", source, re.I), path


def test_notices_of_what_is_compiled_in_are_shipped(static: Path) -> None:
    notices = (static / "THIRD_PARTY.txt").read_text()
    for name, version in json.loads((WEB / "package.json").read_text())["dependencies"].items():
        assert f"{name} {version} (MIT)" in notices
    assert notices.count("Permission is hereby granted") == 2


def test_the_lock_file_pins_by_hash_and_names_no_host() -> None:
    text = (WEB / "package-lock.json").read_text()
    assert "://" not in text, "run `npm run lock` in web/"
    packages = {name: entry for name, entry in json.loads(text)["packages"].items() if name}
    assert packages
    assert all(entry["integrity"].startswith("sha512-") and entry["version"] for entry in packages.values())
    wanted = json.loads((WEB / "package.json").read_text())
    for name, version in {**wanted["dependencies"], **wanted["devDependencies"]}.items():
        assert packages[f"node_modules/{name}"]["version"] == version


@pytest.mark.parametrize(("theme", "block"), [(LIGHT, 0), (DARK, 1), (DARK, 2)])
def test_the_colours_are_the_reports(theme: Any, block: int) -> None:
    blocks = re.findall(r"\{([^{}]*)\}", (WEB / "src" / "theme.css").read_text())
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[block]))
    assert colours.pop("raised")
    assert colours == theme.variables()


def test_a_build_is_needed_when_a_source_changed(build: Any, tmp_path: Path) -> None:
    web = tmp_path / "web"
    (web / "src").mkdir(parents=True)
    (web / "src" / "main.ts").write_text("1")
    (web / "package.json").write_text("{}")
    first = build.digest(web)
    (web / "build.py").write_text("is no source")
    assert build.digest(web) == first
    (web / "src" / "main.ts").write_text("2")
    assert build.digest(web) != first
    assert build.stale(tmp_path / "absent")

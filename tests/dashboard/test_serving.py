"""The server as a process: where it listens, what it streams, how it ends."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard_runs import losses, made
from ontogeny.dashboard.serving import PortTaken, bound, serve
from ontogeny.errors import NotARun
from ontogeny.store.journal import JournalWriter
from ontogeny.store.run import Run


class Served:
    """`ontogeny dashboard` in a process of its own."""

    def __init__(self, home: Path, cache: Path) -> None:
        command = [sys.executable, "-m", "ontogeny", "dashboard", str(home), "--no-browser", "--port", "0"]
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
        )
        assert self.process.stdout is not None
        said = self.process.stdout.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", said)
        assert found, said
        self.port = int(found.group(1))

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def get(self, path: str, **headers: str):
        asking = self.connection()
        asking.request("GET", path, headers=headers)
        answer = asking.getresponse()
        body = answer.read()
        asking.close()
        return answer.status, body

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, sent: int = signal.SIGINT) -> tuple[int, str]:
        self.process.send_signal(sent)
        said, _ = self.process.communicate(timeout=60)
        return self.process.returncode, said.decode()


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    made(folder, "done", losses([2.0, 1.0]))
    return folder


@pytest.fixture(scope="module")
def served(home, tmp_path_factory) -> Iterator[Served]:
    with contextlib.closing(Served(home, tmp_path_factory.mktemp("cache"))) as server:
        yield server


def listening(port: int) -> set[str]:
    """Addresses at which anybody listens on a port, as the kernel tells it (hexadecimal)."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if not Path(table).exists():
            continue
        for line in Path(table).read_text().splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            host, _, number = address.partition(":")
            if state == "0A" and int(number, 16) == port:
                found.add(host)
    return found


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="this system does not list its sockets")
def test_only_loopback_listens(served):
    assert listening(served.port) == {"0100007F"}


def test_it_answers_its_own_address_only(served):
    assert served.get("/api/collection")[0] == 200
    assert served.get("/api/collection", Host="example.org")[0] == 403
    assert served.get("/api/collection", Host=f"example.org:{served.port}")[0] == 403
    assert served.get("/api/collection", Origin="http://example.org")[0] == 403
    status, body = served.get("/")
    assert status == 200
    assert b"<html" in body


@pytest.mark.parametrize(
    "target",
    [
        "/assets/../../../etc/passwd",
        "/../etc/passwd",
        "/assets/%2e%2e/%2e%2e/x",
        "//etc/passwd",
        "*",
        "/api/../x",
    ],
)
def test_a_path_sent_as_it_is_leads_nowhere(served, target):
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as asking:
        host = f"127.0.0.1:{served.port}"
        asking.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while more := asking.recv(65536):
            answer += more
    assert re.match(rb"HTTP/1.1 (403|404|400) ", answer)
    assert b"root:" not in answer


def events(answer, count: int) -> list[tuple[str, dict]]:
    """The next so many events of a stream."""
    found, cursor = [], ""
    while len(found) < count:
        line = answer.readline().decode().rstrip("\n")
        if line.startswith("id: "):
            cursor = line[4:]
        elif line.startswith("data: "):
            found.append((cursor, json.loads(line[6:], parse_constant=pytest.fail)))
    return found


def test_a_stream_goes_on_from_its_cursor(home, served):
    run = Run.create(home / "live", {"title": "live"})
    with JournalWriter(run.path / "journal" / "000.journal") as writer:
        writer.append(1, {"loss": 3.0})
        time.sleep(2.5)  # until the folder is listed again
        cursor = json.loads(served.get("/api/collection")[1])["cursor"]
        first = served.connection()
        first.request("GET", f"/api/events?cursor={cursor}")
        answer = first.getresponse()
        assert answer.headers["content-type"].startswith("text/event-stream")
        writer.append(2, {"loss": float("nan")})
        (cursor, told), *_ = events(answer, 1)
        (line,) = [one for one in told["runs"] if one["name"] == "live"]
        assert (line["steps"], line["last"]["loss"], line["metrics_changed"]) == (2, "NaN", True)
        first.close()

        writer.append(3, {"loss": 1.5})  # while nobody listens
        second = served.connection()
        second.request("GET", "/api/events", headers={"Last-Event-ID": cursor})
        (after, told), *_ = events(second.getresponse(), 1)
        (line,) = [one for one in told["runs"] if one["name"] == "live"]
        assert (line["steps"], line["last"]["loss"]) == (3, 1.5)
        assert after != cursor
        second.close()

        foreign = served.connection()
        foreign.request("GET", "/api/events", headers={"Last-Event-ID": "another-7"})
        (_, told), *_ = events(foreign.getresponse(), 1)
        assert told["reset"] is True
        foreign.close()


def test_an_interruption_ends_it_though_somebody_listens(home, tmp_path):
    with contextlib.closing(Served(home, tmp_path)) as server:
        open_stream = server.connection()
        open_stream.request("GET", "/api/events")
        events(open_stream.getresponse(), 1)
        started = time.monotonic()
        status, said = server.end()
        open_stream.close()
    assert (status, said) == (0, "")
    assert time.monotonic() - started < 20
    assert listening(server.port) == set()


def test_a_port_that_is_taken_is_said():
    with bound(0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortTaken, match="cannot be used"):
            bound(port)


def test_a_folder_that_is_not_there_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(NotARun, match="holds no runs"):
        serve(tmp_path / "none", 0)
    assert not (tmp_path / "cache").exists()

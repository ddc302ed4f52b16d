"""A hub on this machine: what `huggingface_hub` asks for, over HTTP, from a dictionary of files."""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

Files = Mapping[str, bytes]


class Hub:
    """Repositories by name, each revision with its files; `asked` are the names of files that were sent."""

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, Files]] = {}
        self.gated: set[str] = set()
        self.asked: list[str] = []
        self.address = ""

    @staticmethod
    def commit_of(revision: str) -> str:
        return hashlib.sha1(revision.encode()).hexdigest()

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        parts = unquote(urlsplit(path).path).strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            return self._api("/".join(parts[2:4]), parts[4:])
        return self._file("/".join(parts[:2]), parts[3], "/".join(parts[4:]))

    def _api(self, name: str, rest: list[str]) -> tuple[int, dict[str, str], bytes]:
        if name not in self.repositories:
            return 404, {"X-Error-Code": "RepoNotFound"}, b""
        revisions = self.repositories[name]
        if rest == ["refs"]:
            refs = [
                {"name": r, "ref": f"refs/heads/{r}", "targetCommit": self.commit_of(r)} for r in revisions
            ]
            return 200, {}, json.dumps({"branches": refs, "tags": [], "converts": []}).encode()
        files = self._at(name, rest[1])
        if files is None:
            return 404, {"X-Error-Code": "RevisionNotFound"}, b""
        listed = [
            {"type": "file", "path": f, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
            for f, data in files.items()
        ]
        return 200, {}, json.dumps(listed).encode()

    def _at(self, name: str, commit: str) -> Files | None:
        found = self.repositories[name].items()
        return next((files for revision, files in found if self.commit_of(revision) == commit), None)

    def _file(self, name: str, commit: str, file: str) -> tuple[int, dict[str, str], bytes]:
        if name in self.gated:
            return 403, {"X-Error-Code": "GatedRepo"}, b""
        data = (self._at(name, commit) or {})[file]
        return 200, {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": commit}, data


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub at `hub.address` for as long as the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, data = hub.answer(self.path)
            self.send_response(status)
            for key, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(key, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)
                if "X-Repo-Commit" in headers:
                    hub.asked.append(self.path.rpartition("/")[2])

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

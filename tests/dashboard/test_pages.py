"""Only the built page's own files are served, under their own names."""

import itertools

import pytest

from dashboard_runs import losses, made
from ontogeny.dashboard.pages import UNBUILT, Pages

SECRET = "the content of a file beside"
UPS = ["..", "%2e%2e", "%2e.", ".%2e", "%252e%252e", "..%00", "..;", "．．", "%c0%ae%c0%ae", "..%5c.."]
SLASHES = ["/", "%2f", "%252f", "%5c", "\\"]
TRAVERSALS = [
    f"/assets{slash}{up}{slash}{up}{slash}secret.txt" for up, slash in itertools.product(UPS, SLASHES)
]
TRAVERSALS += [f"/{up}{slash}{up}{slash}etc{slash}passwd" for up, slash in itertools.product(UPS, SLASHES)]
TRAVERSALS += [
    "/assets//etc/passwd",
    "/assets/%2fetc%2fpasswd",
    "/assets/file:///etc/passwd",
    "/assets/C:\\Windows\\win.ini",
    "/assets/app.js/../../secret.txt",
    "/assets/./../../secret.txt",
    "/assets/~/.bashrc",
    "/assets/%00",
    "/assets/app.js%00.html",
    "/assets/link.txt",
    "/secret.txt",
    "/assets/",
    "/assets",
]
IDS = ["..", "%2e%2e", "..%2f..", "%2fetc", "one", ".", "%00", "*", "%25", "a" * 3000]


@pytest.fixture
def http(serving, tmp_path):
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<!doctype html><title>page</title>")
    (static / "assets" / "app.js").write_text("export {}")
    (tmp_path / "secret.txt").write_text(SECRET)
    home = tmp_path / "runs"
    made(home, "one", losses([1.0]))
    client = serving(home)
    client.server.pages.static = static
    return client.http


def test_the_page_and_its_files_are_served_with_their_types(http):
    assert "<title>page</title>" in http.get("/").text
    answer = http.get("/assets/app.js")
    assert (answer.text, answer.headers["content-type"]) == ("export {}", "text/javascript; charset=utf-8")


def test_there_are_a_hundred():
    assert len(set(TRAVERSALS)) >= 100


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_other_file_can_be_had(http, path):
    answer = http.get(f"http://127.0.0.1:8321{path}")
    assert answer.status_code in (403, 404)
    assert SECRET not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize("key", IDS)
def test_an_id_is_no_path(http, key):
    for rest in ("", "/metrics", "/rows?part=x", "/samples", "/pattern", "/tokens"):
        assert http.get(f"http://127.0.0.1:8321/api/runs/{key}{rest}").status_code in (403, 404)
    assert http.get("/api/series", params={"runs": key, "metric": "loss"}).status_code == 404
    assert http.get("/api/figures", params={"runs": key, "view": "samples"}).status_code == 404


def test_a_page_that_was_not_built_says_how(tmp_path, serving):
    made(tmp_path, "one", losses([1.0]))
    client = serving(tmp_path)
    client.server.pages.static = tmp_path / "nowhere"
    answer = client.http.get("/")
    assert answer.status_code == 200
    assert "make web" in answer.text
    assert answer.text == UNBUILT


def test_a_page_that_is_built_meanwhile_is_found(tmp_path):
    pages = Pages(tmp_path / "static")
    assert pages._named("index.html") is None
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "index.html").write_text("now")
    found = pages._named("index.html")
    assert found is not None
    assert found.body == b"now"

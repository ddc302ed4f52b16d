"""Only this machine's own page is answered, whatever a foreign page or a rebound name sends."""

import pytest

from dashboard_runs import PORT, losses, made

OWN = [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"[::1]:{PORT}", f"LOCALHOST:{PORT}"]
FOREIGN_HOSTS = [
    "example.org",
    f"example.org:{PORT}",
    "127.0.0.1",
    "localhost",
    f"127.0.0.1:{PORT + 1}",
    f"127.0.0.2:{PORT}",
    f"0.0.0.0:{PORT}",
    f"127.0.0.1.example.org:{PORT}",
    f"localhost.example.org:{PORT}",
    f"localhost:{PORT}.example.org",
    f"user@localhost:{PORT}",
    f"localhost:{PORT}@example.org",
    f"192.168.0.1:{PORT}",
    f"[::]:{PORT}",
    f"[::ffff:127.0.0.1]:{PORT}",
    f"2130706433:{PORT}",
    f"0x7f000001:{PORT}",
    f"127.1:{PORT}",
    f"localhost.:{PORT}",
    f" localhost:{PORT} x",
    f"localhost:{PORT},example.org",
    f"localhost:0{PORT}",
    f"lоcalhost:{PORT}".encode(),
    "",
    ":",
    f":{PORT}",
    f"http://localhost:{PORT}",
    f"localhost:{PORT}/",
    f"localhost:{PORT}\\",
    f"localhost\t:{PORT}",
]
FOREIGN_ORIGINS = [
    "http://example.org",
    f"http://example.org:{PORT}",
    "null",
    "http://localhost",
    f"https://localhost:{PORT}",
    f"http://localhost:{PORT + 1}",
    f"http://localhost:{PORT}/",
    f"http://localhost:{PORT}.example.org",
    f"http://localhost:{PORT}@example.org",
    f"http://user@localhost:{PORT}",
    f"http://127.0.0.1.example.org:{PORT}",
    f"http://127.0.0.2:{PORT}",
    f"http://0.0.0.0:{PORT}",
    f"http://[::]:{PORT}",
    f"http://127.1:{PORT}",
    f"http://2130706433:{PORT}",
    f"http://localhost.:{PORT}",
    f"http://sub.localhost:{PORT}",
    f"file://localhost:{PORT}",
    "file://",
    f"ws://localhost:{PORT}",
    f"chrome-extension://localhost:{PORT}",
    f"localhost:{PORT}",
    f"//localhost:{PORT}",
    "",
    "*",
    f"http://localhost:{PORT} http://example.org",
    f"http://localhost:{PORT},http://example.org",
    f"http://192.168.0.1:{PORT}",
    f"http:/localhost:{PORT}",
]
PATHS = ["/", "/api/collection", "/assets/app.js", "/api/events", "/nothing"]


@pytest.fixture
def http(serving, tmp_path):
    made(tmp_path, "one", losses([1.0]))
    return serving(tmp_path).http


def test_there_are_thirty_of_each():
    assert len(FOREIGN_HOSTS) == len(set(FOREIGN_HOSTS)) == 30
    assert len(FOREIGN_ORIGINS) == len(set(FOREIGN_ORIGINS)) == 30


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_foreign_host_is_refused(http, host):
    for path in PATHS:
        assert http.get(path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_a_foreign_origin_is_refused(http, origin):
    for path in PATHS:
        assert http.get(path, headers={"origin": origin}).status_code == 403


@pytest.mark.parametrize("host", OWN)
def test_its_own_page_is_answered(http, host):
    for origin in ({}, {"origin": f"http://{host}"}):
        assert http.get("/api/collection", headers={"host": host, **origin}).status_code == 200


def test_another_site_is_refused_by_what_the_browser_says_of_it(http):
    for site, status in (("same-origin", 200), ("none", 200), ("cross-site", 403), ("same-site", 403)):
        assert http.get("/api/collection", headers={"sec-fetch-site": site}).status_code == status
    assert http.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200  # a link to the page


def test_two_hosts_are_one_too_many(http):
    headers = [("host", OWN[0]), ("host", "example.org")]
    assert http.get("/api/collection", headers=headers).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_nothing_but_reading_is_there(http, method):
    for path in PATHS:
        assert http.request(method, path).status_code == 405


def test_every_answer_says_what_a_page_may_do(http):
    for path in ("/", "/api/collection", "/nothing", "/api/runs/none"):
        headers = http.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert "unsafe-eval" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
    refused = http.get("/", headers={"host": "example.org"})
    assert refused.headers["x-content-type-options"] == "nosniff"
    assert "example.org" not in refused.text

import re
import time
from html.parser import HTMLParser

import pytest

from ontogeny.errors import BadContract
from ontogeny.report import PartNote, RunTables, report, write_report

HOSTILE = "\"><img src=x onerror=alert(1)><script>alert('1')</script> \u202eevil\u202c 🦉 </style></title>"
VOID = {"meta", "br", "img", "link"}


class Reader(HTMLParser):
    """Collects tags, attributes and whether every element was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags, self.attributes, self.open, self.words = set(), [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


def run(made_up, name: str = "induction-2x4", seed: int = 0) -> RunTables:
    notes = {"induction_attention": PartNote("share", "Looks back.", "a positional habit looks the same.")}
    tables = made_up.telemetry(seed), made_up.rows(seed), made_up.transitions(), made_up.samples()
    return RunTables(made_up.identity(name), *tables, notes)


@pytest.fixture(scope="module")
def page(made_up):
    return report([run(made_up), run(made_up, HOSTILE, 1)])


def test_it_asks_for_nothing_and_runs_nothing(page):
    found = read(page)
    assert not found.tags & {"script", "img", "link", "iframe", "object", "embed", "form", "base"}
    for tag, key, value in found.attributes:
        assert not key.startswith("on"), (tag, key)
        if key in ("href", "xlink:href", "src"):
            assert value.startswith(("#", "data:image/png;base64,")), (tag, value)
    urls = re.findall(r"url\(([^)]*)\)", page)
    assert all(url.startswith("#") for url in urls)
    assert "default-src 'none'" in page


def test_anchors_lead_somewhere_and_ids_are_single(page):
    found = read(page)
    ids = [value for _, key, value in found.attributes if key == "id"]
    assert len(ids) == len(set(ids))
    links = {value[1:] for _, key, value in found.attributes if key == "href" and value.startswith("#")}
    used = {url[1:] for url in re.findall(r"url\(([^)]*)\)", page)}
    assert links | used <= set(ids)


def test_hostile_names_are_shown_as_they_are(page):
    assert HOSTILE in "".join(read(page).words)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda run: run.rows.assign(part=HOSTILE),
        lambda run: run.rows.assign(matrix=run.rows["matrix"].where(run.rows["matrix"].isna(), HOSTILE)),
        lambda run: run.rows.assign(status=HOSTILE, component=HOSTILE),
    ],
)
def test_hostile_rows_break_nothing(made_up, spoil):
    spoiled = run(made_up)
    found = read(report([RunTables(spoiled.identity, rows=spoil(spoiled), transitions=spoiled.transitions)]))
    assert not found.tags & {"script", "img"}


def test_every_colour_used_is_defined_for_light_and_dark(page):
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", page))
    light, dark = (
        set(re.findall(r"(--[a-z0-9-]+):#", block)) for block in re.findall(r":root\{[^}]*\}", page)
    )
    assert used <= light == dark


def test_the_same_tables_give_the_same_bytes(made_up):
    small = RunTables(made_up.identity(), made_up.telemetry(last=300), transitions=made_up.transitions())
    assert report([small]) == report([small])


def test_two_runs_are_compared_one_is_not(page, made_up):
    assert 'id="comparison"' in page
    assert "<h1>2 runs</h1>" in page
    small = RunTables(made_up.identity())
    assert 'id="comparison"' not in report([small])


def test_what_runs_say_together_stands_at_the_top(page, made_up):
    runs = [RunTables(made_up.identity())] * 2
    alone, together = report(runs), report(runs, seeds=made_up.seeds())
    assert "that takes several seeds" in alone
    assert "that takes several seeds" not in together
    over = together.split("<h2>Over seeds</h2>")[1].split("</section>")[0]
    assert "induction attention" in over
    assert "590 – 695" in over
    assert "1 of them claimed in no run" in over


def test_it_is_written_in_ten_seconds_and_three_megabytes(made_up, tmp_path):
    runs = [run(made_up), run(made_up, "second", 1)]
    started = time.process_time()
    path = write_report(tmp_path / "report.html", runs=runs)
    assert time.process_time() - started < 10
    assert path.stat().st_size < 3e6


def test_without_runs_there_is_no_report(tmp_path):
    with pytest.raises(BadContract, match="needs a run"):
        write_report(tmp_path / "report.html", runs=[])

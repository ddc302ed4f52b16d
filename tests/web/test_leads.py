"""A row of the Transitions page leads to where its transition is to be seen, and Back leads back."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from web import inside
from web.conftest import Visit

ALL = "page=transitions&~verdict=all"


def said(address: str | None) -> dict[str, str]:
    """What an address says behind its #."""
    return {key: values[0] for key, values in parse_qs(urlsplit(address or "").fragment).items()}


def linked(page: Page, name: str) -> Locator:
    return page.get_by_role("link", name=re.compile(name))


def row(page: Page, words: str) -> Locator:
    return page.locator("tbody tr", has_text=words)


def test_a_click_on_a_heads_row_opens_it_on_heads_and_back_leads_back(visit: Visit) -> None:
    page = visit(f"{ALL}&~part=sink_mass&~head=0.1&~settings=other", runs=2)
    expect(linked(page, "induction layer 1 head 2: open Heads at step 90$")).to_be_visible()
    row(page, "layer 1 head 2").locator("td").last.click()
    expect(page.locator(".inside-detail .figure-title").first).to_have_text("layer 1 head 2")
    expect(page.get_by_label("part").first).to_have_value("induction")
    expect(page.locator(".inside-step")).to_have_text("step 100")
    now = said(page.url)
    assert (now["page"], now["~head"], now["~stimulus"]) == ("heads", "1.2", "repeated_tokens")
    assert now["~of"] == now["runs"].split(",")[0]
    assert "~settings" not in now
    page.go_back()
    expect(page.locator("tbody tr")).to_have_count(6)
    page.wait_for_timeout(300)
    assert (said(page.url)["~part"], said(page.url).get("step")) == ("sink_mass", None)
    page.go_forward()
    expect(page.locator(".inside-detail .figure-title").first).to_have_text("layer 1 head 2")


def test_enter_on_a_layers_row_opens_its_layer(visit: Visit) -> None:
    page = visit(ALL)
    link = linked(page, "effective rank layer 0: open Layers at step 10$")
    expect(link).to_be_visible()
    page.get_by_role("button", name="reason").focus()
    for _ in range(len(inside.transitions(""))):
        page.keyboard.press("Tab")
        if link.evaluate("one => one === document.activeElement"):
            break
    expect(link).to_be_focused()
    assert link.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator(".figure-title").first).to_have_text("effective rank")
    expect(page.locator(".figure-title").last).to_have_text("layer 0")
    assert (said(page.url)["page"], said(page.url)["step"]) == ("layers", "10")
    page.go_back()
    expect(link).to_be_visible()


def test_a_metrics_row_opens_it_beside_with_the_scrubber_at_its_step(visit: Visit) -> None:
    page = visit(ALL)
    link = linked(page, "open the metric loss.train at step 500$")
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".detail h2")).to_have_text("loss/train")
    expect(page.locator(".detail canvas").first).to_be_visible()
    now = said(page.url)
    assert (now["page"], now["open"], now["step"]) == ("transitions", "metric:loss/train", "500")
    expect(link).to_be_focused()
    page.go_back()
    expect(page.locator(".detail")).to_have_count(0)
    expect(page.locator("tbody tr")).to_have_count(6)
    assert "step" not in said(page.url)


def test_a_matrix_row_opens_its_part_on_matrices(visit: Visit) -> None:
    page = visit(ALL)
    linked(page, "open Matrices at step 100$").click()
    expect(page.get_by_label("part").first).to_have_value("singular_values")
    assert said(page.url)["page"] == "matrices"


@pytest.mark.parametrize(
    ("part", "place"), [("unheard", {}), ("induction", {"layer": 1}), ("new", {"head": 1})]
)
def test_what_has_no_page_stays_plain_text(visit: Visit, part: str, place: dict[str, int]) -> None:
    page = visit(ALL)
    expect(linked(page, "open Heads").first).to_be_visible()
    shared = inside.transitions(said(page.url)["runs"])[-1]
    page.route(re.compile("/api/transitions"), lambda route: route.fulfill(json=[
        shared | {"part": part, "place": place}, shared | {"part": "loss/train", "component": "share"},
        shared | {"part": "induction", "component": "null:shuffled_lag", "place": {"layer": 1, "head": 2}},
        shared | {"part": "loss/train"},
    ]))  # fmt: skip
    page.reload()
    expect(page.locator("tbody a")).to_have_count(1)
    before = page.url
    plain = page.locator("tbody tr").first
    assert page.locator("tbody button").count() == 0
    plain.locator("td").first.click()
    assert page.url == before
    assert plain.evaluate("one => getComputedStyle(one).cursor") != "pointer"


def test_the_last_loop_of_a_looped_model_is_what_pages_show(visit: Visit) -> None:
    page = visit(ALL)
    claim = inside.transitions(said(page.url)["runs"])[0]
    loops = [
        claim | {"place": {"layer": 1, "loop": at, "head": 2}, "where": f"loop {at}"} for at in (0, 1, 2)
    ]
    page.route(re.compile("/api/transitions"), lambda route: route.fulfill(json=loops))
    page.reload()
    expect(page.locator("tbody a")).to_have_count(1)
    expect(linked(page, "loop 2")).to_be_visible()


def test_rows_of_the_same_words_lead_each_to_its_run(visit: Visit) -> None:
    page = visit(ALL, runs=2)
    ids = said(page.url)["runs"].split(",")
    both = [line for run in ids for line in inside.transitions(run)]
    page.route(re.compile("/api/transitions"), lambda route: route.fulfill(json=both))
    page.reload()
    links = linked(page, "induction layer 1 head 2")
    expect(links).to_have_count(2)
    assert {said(link.get_attribute("href"))["~of"] for link in links.all()} == set(ids)
    names = {link.get_attribute("aria-label") for link in links.all()}
    assert len(names) == 2
    page.get_by_role("button", name="size").click()
    expect(links).to_have_count(2)
    for link in links.all():
        cells = link.locator("xpath=ancestor::tr").locator("td").all_inner_texts()
        assert (link.get_attribute("aria-label") or "").startswith(cells[0])


def test_links_lead_from_the_view_as_it_is(visit: Visit) -> None:
    page = visit(ALL)
    link = linked(page, "open Heads at step 90$")
    expect(link).to_be_visible()
    page.keyboard.press("d")
    expect(link).to_have_attribute("href", re.compile("theme=light"))
    page.get_by_role("button", name="p", exact=True).click()
    expect(page.locator("th[aria-sort=descending], th[aria-sort=ascending]")).to_have_text("p")
    assert said(link.get_attribute("href"))["theme"] == "light"
    with page.context.expect_page() as opened:
        link.click(modifiers=["Control"])
    assert said(page.url)["page"] == "transitions"
    assert said(opened.value.url)["page"] == "heads"


def test_a_metric_that_becomes_known_later_is_led_to(visit: Visit) -> None:
    """A slow table of runs: until it comes, all that is known of a run is what its own page says."""
    page = visit(ALL, slow_table=True)
    expect(linked(page, "open the metric loss.train at step 500$")).to_be_visible()

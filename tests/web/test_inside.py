"""The pages of what is inside a run, in a browser, over insides whose numbers are known."""

import re

import pytest
from playwright.sync_api import Page, expect

from web import inside


def colour(page: Page, canvas: str, x: float, y: float) -> list[int]:
    """The colour of a canvas at a place in pixels of the page, from its top left."""
    return page.locator(canvas).first.evaluate(
        "(canvas, [x, y]) => { const at = [x, y].map(one => one * devicePixelRatio);"
        " return [...canvas.getContext('2d').getImageData(...at, 1, 1).data] }",
        [x, y],
    )


def centre(page: Page, column: int, row: int) -> tuple[float, float]:
    """The middle of a grid's cell: 24 px a cell, right of the widest name and 12 px."""
    face = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif'
    wide = page.evaluate(
        "font => { const c = document.createElement('canvas').getContext('2d');"
        " c.font = font; return Math.max(...['0', '1'].map(name => c.measureText(name).width)) }",
        f"11px {face}",
    )
    return 12 + wide + 24 * (column + 0.5), 10 + 24 * (1 - row + 0.5)


GRID = ".inside-grid .figure-plot canvas"


def test_the_head_that_formed_is_bright_at_the_end_and_dark_before(visit):
    page = visit("page=heads")
    expect(page.locator(".inside-pattern canvas").first).to_be_visible()
    bright, dark = colour(page, GRID, *centre(page, 2, 1)), colour(page, GRID, *centre(page, 0, 1))
    assert bright[0] > 150
    assert bright[1] > 200
    assert dark[1] < 60
    page.locator("input[aria-label=step]").focus()
    page.keyboard.press("Home")
    expect(page.locator(".inside-step")).to_have_text("step 0")
    assert colour(page, GRID, *centre(page, 2, 1))[1] < 60
    assert "step=0" in page.url


def test_what_has_no_number_is_not_taken_for_zero(visit):
    page = visit("page=heads&step=1")
    expect(page.locator(".inside-pattern canvas").first).to_be_visible()
    zero = colour(page, GRID, *centre(page, 2, 0))
    lost, hatched = colour(page, GRID, *centre(page, 0, 0)), colour(page, GRID, *centre(page, 1, 0))
    assert zero[2] > zero[0]
    assert lost[3] > 0
    assert lost[0] > 150 > lost[1]
    assert hatched[:3] != zero[:3]
    page.locator(".inside-grid .figure-plot").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    expect(page.locator(".inside-grid .figure-readout")).to_contain_text("NaN")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".inside-grid .figure-readout")).to_contain_text("no number there")


def test_a_click_on_a_head_opens_it_beside_and_the_address_keeps_it(visit):
    page = visit("page=heads")
    title = page.locator(".inside-detail .figure-title").first
    expect(title).to_have_text("layer 1 head 2")
    x, y = centre(page, 1, 0)
    page.locator(".inside-grid .figure-over").click(position={"x": x, "y": y})
    expect(title).to_have_text("layer 0 head 1")
    assert "~head=0.1" in page.url.replace("%7E", "~")
    again = visit("page=heads&~head=0.1&~part=sink_mass&~stimulus=repeated_tokens&step=100")
    expect(again.locator(".inside-detail .figure-title").first).to_have_text("layer 0 head 1")
    expect(again.locator(".inside-step")).to_have_text("step 100")
    expect(again.get_by_label("stimulus")).to_have_value("repeated_tokens")


def test_the_pattern_follows_the_scrubber(visit):
    page = visit("page=heads")
    pattern = page.locator(".inside-pattern")
    expect(pattern.locator(".figure-title")).to_have_text("where it looks at step 1,000")
    pattern.locator(".figure-plot").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    readout = pattern.locator(".figure-readout")
    expect(readout).to_contain_text("key 1 ␣cat")
    expect(readout).to_contain_text("query 1 ␣cat")
    page.keyboard.press("ArrowRight")
    expect(readout).to_contain_text("comes later")
    page.get_by_role("button", name="earlier checkpoint").click()
    expect(pattern.locator(".figure-title")).to_have_text("where it looks at step 100")


def test_the_table_behind_the_grid_follows_the_scrubber(visit):
    page = visit("page=heads")
    page.locator(".inside-grid summary").click()
    row = page.locator(".inside-grid tbody tr").nth(1)
    assert row.locator("td").all_inner_texts() == ["1", "0.06", "0.06", "0.9"]
    page.get_by_role("button", name="earlier checkpoint").click()
    expect(row.locator("td").nth(3)).to_have_text("0.675")


def test_the_null_of_a_part_is_no_choice(visit):
    page = visit("page=heads")
    expect(page.locator(".inside-step")).to_be_visible()
    assert page.locator(".inside-choosers option").all_inner_texts()[:2] == ["induction", "sink mass"]
    assert page.locator("option", has_text="null").count() == 0


def test_playing_moves_through_the_checkpoints_and_stillness_is_respected(visit):
    page = visit("page=heads&step=0")
    page.get_by_role("button", name="play").click()
    expect(page.locator(".inside-step")).to_have_text("step 1,000", timeout=6000)
    calm = visit("page=heads", reduced_motion="reduce")
    expect(calm.locator(".inside-step")).to_be_visible()
    assert calm.get_by_role("button", name="play").count() == 0


def test_layers_and_the_layer_below(visit):
    page = visit("page=layers")
    expect(page.locator(".figure-title").first).to_have_text("effective rank")
    page.locator(".figure-plot").first.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    expect(page.locator(".figure-readout").first).to_contain_text("step 1,000 · layer 1")
    expect(page.locator(".figure-readout").first).to_contain_text("5 (4.98 – 5.02)")


def test_the_layer_that_is_picked_is_kept_in_the_address(visit):
    page = visit("page=layers")
    title = page.locator(".figure-title").last
    expect(title).to_have_text("layer 1")
    page.locator(".figure-plot").first.focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(title).to_have_text("layer 0")
    assert "~layer=0" in page.url.replace("%7E", "~")
    expect(visit("page=layers&~layer=0").locator(".figure-title").last).to_have_text("layer 0")
    expect(visit("page=layers&~layer=9").locator(".figure-title").last).to_have_text("layer 1")


def test_a_spectrum_by_step_and_at_one_step(visit):
    page = visit("page=matrices&step=10&~part=singular_values")
    expect(page.locator(".figure-title", has_text="at step 10")).to_be_visible()
    page.locator(".figure-plot").last.focus()
    page.keyboard.press("Home")
    expect(page.locator(".figure-readout").last).to_contain_text("step 10 30")
    assert page.locator("select", has_text="blocks.1.mlp.up").count() == 1


def test_tokens_by_loss_and_by_change(visit):
    page = visit("page=text")
    tokens = page.locator(".inside-token")
    expect(tokens).to_have_count(6)
    tokens.nth(1).hover()
    expect(page.locator(".inside-said")).to_contain_text("␣cat")
    expect(page.locator(".inside-said")).to_contain_text("2 nats")
    assert tokens.nth(0).evaluate("one => one.classList.contains('inside-absent')")
    page.get_by_label("change since step").select_option("0")
    expect(page.locator(".inside-legend")).to_contain_text("since step 0")
    page.locator(".inside-tokens").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".inside-said")).to_contain_text("before")
    page.locator("summary", has_text="6 tokens of heldout as a table").click()
    assert page.locator("th", has_text="change").count() == 1
    assert page.locator("pre i, .inside-token b").count() == 0


def test_text_begins_with_a_run_that_has_one_and_keeps_numbers_apart(visit):
    page = visit("page=text", runs=2)
    expect(page.locator(".inside-token")).to_have_count(6)
    assert "\u2009" not in page.locator(".inside-tokens").text_content()
    run = page.locator(".inside-page select").first
    first = run.input_value()
    bare = inside.detail(first) | {"has": dict.fromkeys(("patterns", "tokens", "samples", "spectra"), False)}
    numbers = inside.answer_tokens({"step": "10"}) | {"tokens": ["44", "50", "65", "43", "1", "2"]}
    page.route(re.compile(f"/api/runs/{first}$"), lambda route: route.fulfill(json=bare))
    page.route(re.compile("/tokens"), lambda route: route.fulfill(json=numbers))
    page.reload()
    expect(run).not_to_have_value(first)
    expect(page.locator(".inside-token")).to_have_count(6)
    assert page.locator(".inside-tokens").text_content().split("\u2009")[:3] == ["44", "50", "65"]


def test_transitions_are_filtered(visit):
    page = visit("page=transitions")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_role("button", name=re.compile("^all 6")).click()
    expect(page.locator("tbody tr")).to_have_count(6)
    assert "~verdict=all" in page.url.replace("%7E", "~")


def test_the_tree_names_the_fork_and_opens_a_run(visit):
    page = visit("page=tree", runs=2)
    expect(page.locator(".inside-branches")).to_contain_text(
        "left parent at step 100 under weight_decay(value=0)"
    )
    assert page.locator(".inside-tree .tree-fork").count() == 1
    assert page.locator(".inside-branches b").count() == 0
    # In the colours that the runs have in the table.
    table = page.locator(".runs .swatch").evaluate_all(
        "all => all.map(one => one.style.getPropertyValue('--colour'))"
    )
    drawn = page.locator(".inside-tree .tree-run").evaluate_all(
        "all => all.map(one => getComputedStyle(one).stroke)"
    )
    asked = "colour => { const one = new Option().style; one.color = colour; return one.color }"
    assert set(drawn) <= {page.evaluate(asked, one) for one in table}
    page.locator(".inside-branches button").first.click()
    assert "open=run" in page.url


def test_two_runs_and_their_difference(visit):
    page = visit("page=compare", runs=2)
    expect(page.locator(".figure-title").nth(1)).to_have_text("difference")
    page.locator(".figure-plot").first.focus()
    page.keyboard.press("End")
    readouts = page.locator(".figure-readout")
    expect(readouts.nth(0)).to_contain_text("step 7")
    expect(readouts.nth(1)).to_contain_text("0.25")


@pytest.mark.parametrize("view", ["heads", "layers", "matrices", "text", "transitions", "tree", "compare"])
def test_every_page_fits_a_narrow_window_in_the_dark(visit, view):
    page = visit(f"page={view}", runs=2, color_scheme="dark")
    page.set_viewport_size({"width": 800, "height": 900})
    expect(page.locator(".inside").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 800

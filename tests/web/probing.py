"""What a chart shows, asked of the page: its series, its scales, and the pixels that were drawn."""

from typing import Any

from playwright.sync_api import Page

FIND = "const chart = window.__ontogeny.charts.find(one => one.title === name);"


def chart(page: Page, name: str) -> dict[str, Any]:
    """Scales, cursor and series of the chart of that title."""
    return page.evaluate(
        "name => {" + FIND + "return { scales: chart.scales, cursor: chart.cursor, series: chart.series } }",
        name,
    )


def settled(page: Page, name: str, condition: str) -> None:
    """Waits until `condition`, JavaScript over `chart`, holds of the chart of that title."""
    page.wait_for_function(f"name => {{ {FIND} return chart && ({condition}) }}", arg=name)


def place(page: Page, name: str, x: float, y: float | None = None) -> tuple[float, float]:
    """Where a point of the chart is in the window, in CSS pixels; without y, its middle."""
    return tuple(
        page.evaluate(
            "([name, x, y]) => {"
            + FIND
            + """
            const box = chart.over.getBoundingClientRect(), canvas = chart.canvas.getBoundingClientRect();
            const [left, top] = chart.at(x, y ?? chart.scales.y.min);
            const height = y === null ? box.top + box.height / 2 : canvas.top + top / devicePixelRatio;
            return [canvas.left + left / devicePixelRatio, height] }""",
            [name, x, y],
        )
    )


def inked(page: Page, name: str, x: float, y: float, *, reach: int = 2, above: int | None = None) -> float:
    """How much of the first series' colour there is within `reach` pixels of a point, 0 to 1.

    `above` asks so many CSS pixels above the plot instead of at y.
    """
    return page.evaluate(
        "([name, x, y, reach, above]) => {"
        + FIND
        + """
        const canvas = chart.canvas, context = canvas.getContext("2d");
        let [left, top] = chart.at(x, y).map(Math.round);
        if (above !== null) top = Math.round(chart.at(x, chart.scales.y.max)[1] - above * devicePixelRatio);
        const size = 2 * reach + 1;
        const { data } = context.getImageData(left - reach, top - reach, size, size);
        const wanted = [1, 3, 5].map(from => parseInt(chart.series[0].colour.slice(from, from + 2), 16));
        let most = 0;
        for (let at = 0; at < data.length; at += 4) {
          const away = Math.hypot(...wanted.map((part, index) => part - data[at + index]));
          most = Math.max(most, data[at + 3] / 255 * Math.max(0, 1 - away / 100));
        }
        return most }""",
        [name, x, y, reach, above],
    )


def drag(page: Page, name: str, start: float, end: float) -> None:
    """Brushes from one x to another with the mouse."""
    left, top = place(page, name, start)
    right, _ = place(page, name, end)
    page.mouse.move(left, top)
    page.mouse.down()
    page.mouse.move((left + right) / 2, top, steps=3)
    page.mouse.move(right, top, steps=3)
    page.mouse.up()

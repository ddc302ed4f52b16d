/** One description, one drawing: the dashboard, the report and the notebook draw every figure by this. */

import { csvOf, tablesBehind } from "./behind";
import { colourBar, sameScale } from "./colourbar";
import { isGrid, marksOf, type Figure, type Heat, type Panel } from "./description";
import { h, named } from "./dom";
import { frameOf, type Drawn } from "./frame";
import { HeatMap, type HeatOptions } from "./heat";
import { axisOf, Links } from "./link";
import { plural } from "./numbers";
import type { Place } from "./overlay";
import { rightMargin } from "./paint";
import { drawPlot, isPlot, type Shared } from "./plot";
import { tableElement, type TableOptions } from "./table";
import { onTheme, themeOf, type Theme } from "./theme";

export interface DrawOptions {
  /** What the figure's drawings share with others on the page; their own if left out. */
  links?: Links;
  /** Whether the figure says its own title and note. */
  title?: boolean;
  /** Whether it offers its numbers as a table and as CSV. */
  tools?: boolean;
  table?: TableOptions;
  heat?: HeatOptions;
}

export interface DrawnFigure {
  panels: () => Drawn[];
  /** Shows another figure in its place; heat maps of the same rows and columns only change their values. */
  update: (figure: Figure) => void;
  /** Frames a cell of every heat map. */
  choose: (place: Place | null) => void;
  destroy: () => void;
}

const HEIGHTS: Record<number, number> = { 1: 250, 2: 150, 3: 105 };
/** Rows of a table behind a drawing; its file has all of them. */
const MOST_ROWS = 1000;
const NARROW = 260;
const NARROW_GRID = 150;

/** Draws a figure into an element, in the colours in force there; it follows width, theme and links. */
export function drawFigure(element: HTMLElement, figure: Figure, options: DrawOptions = {}): DrawnFigure {
  const links = options.links ?? new Links();
  let [now, panels, chosen]: [Figure, Drawn[], Place | null] = [figure, [], null];
  const choose = (place: Place | null) => {
    chosen = place;
    for (const panel of panels) if (panel instanceof HeatMap) panel.choose(place);
  };
  const draw = () => {
    panels.forEach((panel) => panel.destroy());
    panels = drawInto(element, () => now, links, themeOf(element), options);
    choose(chosen);
  };
  draw();
  const stop = onTheme(draw);
  return {
    panels: () => panels,
    choose,
    update: (other) => {
      const alike =
        now.panels.length === other.panels.length &&
        other.panels.every((panel, nth) => fits(panels[nth], panel));
      now = other;
      if (!alike) return draw();
      panels.forEach((panel, nth) => (panel as HeatMap).show(marksOf(other.panels[nth]!, "Heat")[0]!));
      element.querySelector("details.figure-tools")?.dispatchEvent(new Event("toggle"));
    },
    destroy: () => {
      stop();
      panels.forEach((panel) => panel.destroy());
      panels = [];
      element.replaceChildren();
    },
  };
}

/** Whether a drawn panel can show another's values: heat maps of the same title, rows and columns. */
function fits(drawn: Drawn | undefined, panel: Panel): boolean {
  const [before, after] = [drawn && marksOf(drawn.panel, "Heat")[0], marksOf(panel, "Heat")[0]];
  if (!(drawn instanceof HeatMap) || !before || !after || drawn.panel.title !== panel.title) return false;
  const told = (heat: Heat) =>
    JSON.stringify([heat.x, heat.y, heat.low, heat.high, heat.colours, heat.scale]);
  return told(before) === told(after);
}

function drawInto(
  element: HTMLElement,
  now: () => Figure,
  links: Links,
  theme: Theme,
  options: DrawOptions,
): Drawn[] {
  const figure = now();
  const heats = figure.panels.flatMap((panel) => marksOf(panel, "Heat"));
  const shared = heats.length > 1 && heats.length === figure.panels.length && sameScale(heats);
  const columns = Math.max(1, figure.columns);
  const grid = h("div", { class: "figure-panels" });
  grid.style.setProperty("--columns", String(columns));
  grid.style.setProperty("--narrowest", `${heats.some(isGrid) ? NARROW_GRID : NARROW}px`);
  const right = rightMargin(figure.panels);
  const body = h("div", { class: "figure-body" });
  if (options.title !== false && figure.title)
    body.append(h("h3", { class: "figure-name" }, named(figure.title)));
  if (shared) body.append(h("div", { class: "figure-shared" }, colourBar(heats, theme)));
  body.append(grid);
  element.replaceChildren(body);
  const drawn = figure.panels.map((panel) => {
    const height = HEIGHTS[columns] ?? 90;
    return drawPanel(panel, { theme, link: links.of(axisOf(panel.x)), height, right }, options, shared, grid);
  });
  if (options.title !== false && figure.note)
    body.append(h("p", { class: "figure-note" }, named(figure.note)));
  const numbers = figure.panels.some((panel) => isPlot(panel) || marksOf(panel, "Heat").length > 0);
  if (options.tools !== false && numbers) body.append(tools(now));
  return drawn;
}

/** Draws one panel at the end of `into`. */
export function drawPanel(
  panel: Panel,
  shared: Shared,
  options: DrawOptions,
  bare: boolean,
  into: HTMLElement,
): Drawn {
  const slot = into.appendChild(h("div", { class: "figure-slot" }));
  const [heat] = marksOf(panel, "Heat");
  let drawn: Drawn;
  if (heat) {
    drawn = new HeatMap(panel, shared, { bare, ...options.heat });
  } else if (isPlot(panel)) drawn = drawPlot(panel, shared);
  else drawn = drawWords(panel, shared, options);
  slot.append(drawn.element);
  return drawn;
}

function drawWords(panel: Panel, shared: Shared, options: DrawOptions): Drawn {
  const [table] = marksOf(panel, "Table");
  if (table) {
    const element = tableElement(table, { caption: panel.title, ...options.table });
    return { panel, element, destroy: () => undefined, canvases: () => [] };
  }
  const frame = frameOf({ ...panel, x: "" }, shared.link);
  frame.body.removeAttribute("tabindex");
  for (const text of marksOf(panel, "Text"))
    frame.body.append(h("p", { class: "figure-text" }, named(text.text)));
  return { panel, element: frame.element, destroy: () => undefined, canvases: () => [] };
}

/** The numbers behind the drawing, as they are now; made when they are asked for. */
function tools(now: () => Figure): HTMLElement {
  const inside = h("div", { class: "figure-behind" });
  const details = h("details", { class: "figure-tools" }, h("summary", {}, "The numbers"), inside);
  details.addEventListener("toggle", () => {
    inside.replaceChildren();
    if (!details.open) return;
    const figure = now();
    inside.append(download(figure));
    for (const panel of figure.panels) {
      for (const table of tablesBehind(panel)) {
        const left = table.rows.length - MOST_ROWS;
        const shown = left > 0 ? { ...table, rows: table.rows.slice(0, MOST_ROWS) } : table;
        inside.append(h("h4", {}, named(panel.title)), tableElement(shown, { caption: panel.title }));
        if (left > 0)
          inside.append(h("p", { class: "figure-note" }, `${plural(left, "further row")} in the CSV file.`));
      }
    }
  });
  return details;
}

function download(figure: Figure): HTMLElement {
  const button = h("button", { type: "button", class: "figure-button" }, "Save as CSV");
  button.addEventListener("click", () => {
    const text = csvOf(figure.panels.flatMap(tablesBehind));
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    const name = figure.title.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "figure";
    h("a", { href: address, download: `${name}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
  return button;
}

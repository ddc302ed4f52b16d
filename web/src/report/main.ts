/** The script of a report: draws the figures a page carries again, under the reader's pointer. */

import "uplot/dist/uPlot.min.css";
import "../figure/figure.css";
import "../inside/inside.css";
import "./report.css";
import { h } from "../figure/dom";
import { drawFigure, type DrawnFigure } from "../figure/draw";
import { Links } from "../figure/link";
import { headsView, type HeadsShown } from "../inside/heads";
import { forgetful } from "../inside/source";
import { sourceOf, unpack, type Carried } from "./data";
import { filterable, sortable, tied } from "./tables";

/** How far outside the window a figure is drawn already. */
const AHEAD = "700px";

interface Page {
  figures: Map<Element, DrawnFigure>;
  links: Map<string, Links>;
}

const page: Page = { figures: new Map(), links: new Map() };

/** One crosshair and one zoom a run. */
function linksOf(element: Element): Links {
  const key = element.closest("article")?.id ?? "";
  let links = page.links.get(key);
  if (!links) page.links.set(key, (links = new Links()));
  return links;
}

function drawOver(element: Element, carried: Carried): void {
  const figure = carried.figures[Number(element.getAttribute("data-figure"))];
  const drawing = element.querySelector(".drawing");
  if (!figure || !drawing || page.figures.has(element)) return;
  const live = h("div", { class: "live" });
  drawing.before(live);
  page.figures.set(element, drawFigure(live, figure, { links: linksOf(element), title: false }));
  element.classList.add("drawn");
}

/** Draws figures as they come near the window. */
function drawLate(carried: Carried): void {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        observer.unobserve(entry.target);
        drawOver(entry.target, carried);
      }
    },
    { rootMargin: AHEAD },
  );
  for (const figure of document.querySelectorAll("figure[data-figure]")) observer.observe(figure);
}

/** `[` and `]` move the scrubber that is in sight, or the first. */
function moveBy(views: [HTMLElement, HeadsShown][], event: KeyboardEvent): void {
  const many = { "[": -1, "]": 1 }[event.key];
  const typing =
    event.target instanceof HTMLElement && event.target.matches("input:not([type=range]), textarea");
  if (!many || typing || event.ctrlKey || event.metaKey) return;
  const seen = views.find(([element]) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  });
  (seen ?? views[0])?.[1].by(many);
}

/** Every head at every step, in place of the grids of a few steps. */
function mountHeads(carried: Carried): void {
  const views: [HTMLElement, HeadsShown][] = [];
  for (const run of carried.runs) {
    const grids = document.querySelector(`#${run.key}-heads .grids`);
    if (!grids || !run.rows.length) continue;
    const title = h("h3", {}, "Layer by head, at every checkpoint");
    const inside = h("div", {});
    const live = h("figure", { class: "live heads" }, title, inside);
    grids.before(live);
    grids.classList.add("drawn");
    views.push([live, headsView(inside, sourceOf(run), forgetful(), linksOf(grids))]);
  }
  addEventListener("keydown", (event) => moveBy(views, event));
}

/** Says once what a figure answers to. */
function explain(): void {
  const words =
    "Figures answer to the pointer: drag across one to zoom, double-click for the whole range, click to mark a step " +
    "in all of them. With the keyboard: arrow keys, + and −, 0.";
  document.querySelector("figure[data-figure]")?.before(h("p", { class: "note live" }, words));
}

function enliven(carried: Carried): void {
  explain();
  drawLate(carried);
  mountHeads(carried);
  for (const table of document.querySelectorAll<HTMLTableElement>("main .table > table")) {
    filterable(table);
    tied(table, linksOf(table).of("step"));
    sortable(table);
  }
  Object.defineProperty(window, "__ontogeny", { value: Object.freeze({ ...page, carried }) });
  document.documentElement.classList.add("interactive");
}

async function begin(): Promise<void> {
  const data = document.getElementById("ontogeny-data")?.textContent;
  if (data && "DecompressionStream" in window) enliven(await unpack(data));
}

void begin();

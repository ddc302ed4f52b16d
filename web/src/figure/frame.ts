/** What stands around a panel's drawing: its title, its latest value, what is under the pointer. */

import type uPlot from "uplot";
import { marksOf, type Panel } from "./description";
import { fill, h, named, type Child } from "./dom";
import type { Link } from "./link";
import { count, number } from "./numbers";
import { railWords } from "./paint";

/** A drawn panel. */
export interface Drawn {
  panel: Panel;
  element: HTMLElement;
  destroy: () => void;
  /** The canvases it consists of, top to bottom. */
  canvases: () => HTMLCanvasElement[];
  /** The uPlot instance of a panel of lines. */
  plot?: () => uPlot | null;
}

export interface Frame {
  element: HTMLElement;
  head: HTMLElement;
  body: HTMLElement;
  /** Says what is under the cursor; nothing restores what is said at rest. */
  say: (...said: Child[]) => void;
  /** Changes what is said at rest. */
  rest: (...said: Child[]) => void;
  /** Offers to leave the zoom. */
  zoomed: (is: boolean) => void;
}

let made = 0;

/** The elements around one panel; `rest` is what its last line says while nothing is pointed at. */
export function frameOf(panel: Panel, link: Link, rest: Child[] = []): Frame {
  const key = `panel-title-${(made += 1)}`;
  const readout = h("span", { class: "figure-readout", "aria-live": "off" });
  const reset = h("button", { type: "button", class: "figure-reset", hidden: true }, "whole range");
  reset.addEventListener("click", () => link.setRange(null));
  const body = bodyOf(key, readout);
  const head = headOf(panel, key);
  const axis = panel.x ? h("span", { class: "figure-axis" }, named(panel.x)) : null;
  const foot = h("div", { class: "figure-foot" }, readout, reset, axis);
  const railed = railOf(panel);
  let calm = [railed, ...rest];
  fill(readout, ...calm);
  return {
    element: h("div", { class: "figure-panel" }, head, body, foot),
    head,
    body,
    say: (...said) => {
      fill(readout, ...(said.length ? said : calm));
      foot.classList.toggle("figure-said", said.length > 0);
    },
    rest: (...said) => {
      calm = [railed, ...said];
      if (!foot.classList.contains("figure-said")) fill(readout, ...calm);
    },
    zoomed: (is) => {
      reset.hidden = !is;
    },
  };
}

function headOf(panel: Panel, key: string): HTMLElement {
  return h(
    "div",
    { class: "figure-head" },
    h("span", { class: "figure-title", id: key }, named(panel.title)),
    panel.y ? h("span", { class: "figure-unit" }, named(panel.y)) : null,
    panel.latest ? h("span", { class: "figure-latest" }, named(panel.latest)) : null,
  );
}

/** Where the drawing goes. The cursor moves every drawing of a page; only the one in focus is read out. */
function bodyOf(title: string, readout: HTMLElement): HTMLElement {
  const body = h("div", {
    class: "figure-plot",
    tabindex: 0,
    role: "group",
    "aria-labelledby": title,
    "aria-description": "Arrow keys move the cursor, + and − zoom, 0 shows the whole range, Escape leaves.",
  });
  body.addEventListener("focus", () => readout.setAttribute("aria-live", "polite"));
  body.addEventListener("blur", () => readout.setAttribute("aria-live", "off"));
  return body;
}

function railOf(panel: Panel): HTMLElement | null {
  const lost = marksOf(panel, "Rail").some((rail) => rail.kind === "nonfinite");
  const words = railWords(panel);
  return words ? h("span", { class: lost ? "figure-lost" : "" }, words) : null;
}

/** An x in words: steps as whole numbers, shares as they are. */
export function placeWords(axis: string, x: number): string {
  return axis === "step" || axis === "tokens" ? `${axis} ${count(x)}` : `${axis} ${number(x)}`;
}

/** A coloured name and its number, in a readout. */
export function reading(
  colour: string,
  name: string,
  value: number | null,
  low?: number | null,
  high?: number | null,
): HTMLElement {
  const sure = typeof low === "number" && typeof high === "number";
  const band = sure ? ` (${number(low)} – ${number(high)})` : "";
  const dot = h("i", { class: "figure-dot" });
  dot.style.background = colour;
  return h(
    "span",
    { class: "figure-reading" },
    dot,
    name ? named(name) : null,
    name ? " " : null,
    number(value) + band,
  );
}

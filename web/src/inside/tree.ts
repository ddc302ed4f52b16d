/** Which run was branched from which, where, and under which intervention. */

import { fill, h, label, named } from "../figure/dom";
import { count, shortNumber } from "../figure/numbers";
import { along, ticks, type Range } from "../figure/scale";
import { say } from "./said";
import type { Branch, Shown } from "./source";

const ROW = 34;
const TOP = 22;
const LEFT = 14;
const RIGHT = 20;
const WIDE = 900;
const SVG = "http://www.w3.org/2000/svg";

interface Placed extends Branch {
  row: number;
  depth: number;
}

/** Parents above their branches, branches in the order they leave. */
export function ordered(branches: Branch[]): Placed[] {
  const known = new Set(branches.map((one) => one.id));
  const below = (parent: string | null) =>
    branches
      .filter((one) =>
        parent === null ? one.parent === null || !known.has(one.parent) : one.parent === parent,
      )
      .sort((a, b) => (a.forked_at ?? 0) - (b.forked_at ?? 0) || a.name.localeCompare(b.name));
  const placed: Placed[] = [];
  const seen = new Set<string>();
  const visit = (one: Branch, depth: number) => {
    if (seen.has(one.id)) return;
    seen.add(one.id);
    placed.push({ ...one, row: placed.length, depth });
    below(one.id).forEach((child) => visit(child, depth + 1));
  };
  below(null).forEach((one) => visit(one, 0));
  return placed;
}

function svg(
  tag: string,
  attributes: Record<string, string | number>,
  ...children: (Node | string)[]
): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** Mounts the tree, in the colours that runs have everywhere; a run that is picked is told to `pick`. */
export function treeView(
  element: HTMLElement,
  branches: Branch[],
  pick: (id: string) => void,
  colour: (id: string) => string,
): Shown {
  const placed = ordered(branches);
  if (!placed.length) say(element, "There are no runs here.");
  else fill(element, drawing(placed, pick, colour), asList(placed, pick));
  return { destroy: () => element.replaceChildren() };
}

function drawing(placed: Placed[], pick: (id: string) => void, colour: (id: string) => string): Element {
  const range: Range = [
    Math.min(...placed.map((one) => one.first)),
    Math.max(...placed.map((one) => one.last), 1),
  ];
  const x = (step: number) => LEFT + along("step", range, step) * (WIDE - LEFT - RIGHT);
  const y = (row: number) => TOP + row * ROW + 20;
  const high = y(placed.length - 1) + 16;
  const root = svg("svg", { viewBox: `0 0 ${WIDE} ${high}`, class: "inside-tree", "aria-hidden": "true" });
  for (const tick of ticks(range, "step")) {
    root.append(
      svg("line", { x1: x(tick), x2: x(tick), y1: TOP, y2: high, class: "tree-grid" }),
      svg("text", { x: x(tick), y: 12, "text-anchor": "middle", class: "tree-tick" }, shortNumber(tick)),
    );
  }
  for (const one of placed) {
    const parent = placed.find((other) => other.id === one.parent);
    const from = one.forked_at ?? one.first;
    if (parent) root.append(fork(x(from), y(parent.row), y(one.row), colour(one.id)));
    const ends = {
      x1: x(from) + (parent ? 10 : 0),
      x2: Math.max(x(one.last), x(from) + 12),
      y1: y(one.row),
      y2: y(one.row),
    };
    const dashes = one.status === "running" ? "5 3" : "none";
    root.append(
      svg("line", {
        ...ends,
        class: "tree-run",
        style: `stroke:${colour(one.id)};stroke-dasharray:${dashes}`,
      }),
    );
    const words = [
      label(one.name, 44),
      one.interventions.length ? label(one.interventions.join(", "), 60) : "",
    ];
    // Left of its line where there is no room to the right: nothing else is in the row before the fork.
    const left = x(from) > 0.55 * WIDE;
    const place = { x: left ? x(from) - 8 : x(from) + (parent ? 12 : 0), y: y(one.row) - (left ? -4 : 6) };
    const said = svg("text", { ...place, "text-anchor": left ? "end" : "start", class: "tree-name" });
    said.append(svg("tspan", { class: "tree-strong" }, words[0]!), svg("tspan", { dx: 8 }, words[1]!));
    const group = svg("g", { class: "tree-row" }, said);
    group.addEventListener("click", () => pick(one.id));
    root.append(group);
  }
  return root;
}

/** The way from a parent's line down to the branch's, with a dot where it leaves. */
function fork(x: number, from: number, to: number, colour: string): SVGElement {
  const bend = Math.min(10, (to - from) / 2);
  const path = `M${x} ${from}V${to - bend}Q${x} ${to} ${x + bend} ${to}`;
  return svg(
    "g",
    { style: `stroke:${colour};fill:${colour}` },
    svg("path", { d: path, class: "tree-fork" }),
    svg("circle", { cx: x, cy: from, r: 3 }),
  );
}

/** The same as a nested list of buttons: for the keyboard and for those who do not see the drawing. */
function asList(placed: Placed[], pick: (id: string) => void): Element {
  const list = h("ul", { class: "inside-branches" });
  for (const one of placed) {
    const button = h("button", { type: "button", class: "figure-pick" }, named(one.name));
    button.addEventListener("click", () => pick(one.id));
    const parent = placed.find((other) => other.id === one.parent);
    const left = parent ? [", left ", named(parent.name), ` at step ${count(one.forked_at)}`] : [];
    const under = one.interventions.length ? [" under ", named(one.interventions.join(", "))] : [];
    const item = h(
      "li",
      {},
      button,
      `, steps ${count(one.first)} to ${count(one.last)}, ${one.status}`,
      ...left,
      ...under,
    );
    item.style.paddingLeft = `${one.depth * 18}px`;
    list.append(item);
  }
  return list;
}

/** Where a transition is to be seen: the page of its part and place, as an address that a row links to. */

import type { Run } from "../api";
import type { Cell, Table } from "../figure/description";
import { h, shown } from "../figure/dom";
import { count } from "../figure/numbers";
import { cellWords } from "../figure/table";
import { view, write, type View } from "../state";
import { isLayered } from "./layers";
import type { Part, Transition } from "./source";

export interface Lead {
  href: string;
  /** What is opened, in words. */
  to: string;
}

/** What a transition leads to; null where no page shows it. */
export type Leading = (one: Transition) => Lead | null;

/** A run and the parts that are known to be measured on it. */
export type Known = Pick<Run, "last"> & { parts: Part[] };

type Target = Pick<Lead, "to"> & { change: Partial<View>; extra: Record<string, string> };

/** Leads into the pages of the given runs, from the view as it is. */
export function leading(all: Transition[], runs: ReadonlyMap<string, Known>): Leading {
  const loops = lastLoops(all);
  return (one) => {
    const run = runs.get(one.run);
    // Of a looped model the pages show the last loop.
    if (!run || (one.place.loop !== undefined && Number(one.place.loop) !== loops.get(loopKey(one))))
      return null;
    const found = targetOf(one, run);
    if (!found) return null;
    const now = view.get();
    const step = one.step === null ? now.step : Math.round(one.step);
    const { part, stimulus, component } = one;
    const extra = { ...now.extra, of: one.run, part, stimulus, component, settings: "", ...found.extra };
    const to = one.step === null ? found.to : `${found.to} at step ${count(one.step)}`;
    return { href: "#" + write({ ...now, ...found.change, step, extra }), to: `open ${to}` };
  };
}

function targetOf(one: Transition, run: Known): Target | null {
  const place = Object.keys(one.place).filter((axis) => axis !== "loop");
  if (!place.length) {
    if (one.component || !(one.part in run.last)) return null;
    return { to: `the metric ${one.part}`, change: { open: `metric:${one.part}` }, extra: {} };
  }
  const part = run.parts.find((measured) => measured.name === one.part);
  const known = part && (!one.component || part.components.includes(one.component));
  if (!known || one.component.startsWith("null")) return null;
  const page = (to: string, extra: Record<string, string>): Target => {
    return { to, change: { page: to.toLowerCase() }, extra };
  };
  const { layer, head } = one.place;
  const over = (...axes: string[]) => axes.every((axis) => part.axes.includes(axis));
  const at = place.sort().join(" ");
  if (at === "head layer" && over("layer", "head")) return page("Heads", { head: `${layer}.${head}` });
  if (at === "layer" && isLayered(part)) return page("Layers", { layer: String(layer) });
  if ((at === "matrix" || at === "layer matrix") && over("matrix")) return page("Matrices", {});
  return null;
}

/** The last loop of each part, by everything that was looked at. */
function lastLoops(all: Transition[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const one of all) {
    const loop = Number(one.place.loop ?? 0);
    last.set(loopKey(one), Math.max(last.get(loopKey(one)) ?? 0, loop));
  }
  return last;
}

function loopKey(one: Transition): string {
  return JSON.stringify([one.run, one.part]);
}

/**
 * Makes links of the drawn rows that lead somewhere, in the column of that title; the others stay text.
 * A row is known by its words; of several with the same, each is taken for one.
 */
export function linkRows(
  element: HTMLElement,
  table: Table,
  title: string,
  leadOf: (nth: number) => { lead: Lead; name: string } | null,
): void {
  const titles = [...element.querySelectorAll("thead th")].map((cell) => cell.textContent);
  const kept = titles.map((name) => table.columns.findIndex((column) => column.title === name));
  const words = (row: Cell[]) => kept.map((at) => shown(cellWords(table.columns[at]!, row[at]!))).join("\n");
  const known = new Map<string, number[]>();
  table.rows.forEach((row, nth) => {
    const key = words(row);
    known.set(key, [...(known.get(key) ?? []), nth]);
  });
  for (const row of element.querySelectorAll<HTMLTableRowElement>("tbody tr")) {
    const cells = [...row.cells];
    const nth = known.get(cells.map((cell) => cell.textContent).join("\n"))?.shift();
    const found = nth === undefined ? null : leadOf(nth);
    link(row, cells[titles.indexOf(title)]!, found);
  }
}

function link(
  row: HTMLTableRowElement,
  cell: HTMLTableCellElement,
  found: { lead: Lead; name: string } | null,
): void {
  let made = cell.querySelector("a");
  row.classList.toggle("inside-leads", found !== null);
  if (!found) return made?.replaceWith(...made.childNodes);
  if (!made) {
    made = h("a", { class: "inside-lead" }, ...cell.childNodes);
    cell.append(made);
  }
  made.href = found.lead.href;
  made.title = found.lead.to;
  made.setAttribute("aria-label", shown(`${found.name}: ${found.lead.to}`));
}

/** A click anywhere on a row is one on its link, unless words were marked in it. */
export function followRows(element: HTMLElement): void {
  element.addEventListener("click", (event) => {
    const at = event.target as Element;
    if (at.closest("a, button") || event.ctrlKey || event.metaKey || String(getSelection())) return;
    at.closest("tr")?.querySelector<HTMLAnchorElement>("a.inside-lead")?.click();
  });
}

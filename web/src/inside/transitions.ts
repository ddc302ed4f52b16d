/** Every series that was looked at: what was claimed, what was not and why; each tied to the drawings. */

import { drawFigure, type DrawnFigure } from "../figure/draw";
import type { Cell, Column, Figure } from "../figure/description";
import { fill, h } from "../figure/dom";
import { Links } from "../figure/link";
import { plural } from "../figure/numbers";
import type { TableOptions } from "../figure/table";
import { say } from "./said";
import type { Memory, Shown, Transition } from "./source";

const COLUMNS: Column[] = [
  { title: "part", kind: "text" },
  { title: "place", kind: "text" },
  { title: "stimulus", kind: "text" },
  { title: "verdict", kind: "text" },
  { title: "step", kind: "step" },
  { title: "interval", kind: "interval" },
  { title: "size", kind: "number" },
  { title: "unit", kind: "text" },
  { title: "p", kind: "probability" },
  { title: "q", kind: "probability" },
  { title: "reason", kind: "prose" },
];

/** The table of the given transitions; `runs` names their runs where there are several. */
export function transitionTable(found: Transition[], runs: Map<string, string>): Figure {
  const several = runs.size > 1;
  const columns = several ? [{ title: "run", kind: "name" } as Column, ...COLUMNS] : COLUMNS;
  const rows = found.map((one): Cell[] => [
    ...(several ? [runs.get(one.run) ?? one.run] : []),
    partWords(one),
    one.where,
    words(one.stimulus),
    one.verdict,
    one.step,
    one.low === null && one.high === null ? null : [one.low, one.high],
    one.size,
    one.unit,
    one.p,
    one.q ?? null,
    one.reason,
  ]);
  const panel = {
    title: "Transitions",
    x: "",
    y: "",
    x_scale: "linear" as const,
    y_scale: "linear" as const,
  };
  const marks = [{ mark: "Table" as const, columns, rows }];
  return {
    title: "",
    note: "",
    columns: 1,
    panels: [{ ...panel, marks, x_range: null, y_range: null, latest: "" }],
  };
}

/** Mounts the table with a filter by verdict; a row that is picked marks its step everywhere. */
export function transitionsView(
  element: HTMLElement,
  found: Transition[],
  runs: Map<string, string>,
  memory: Memory,
  links = new Links(),
): Shown {
  let table: DrawnFigure | null = null;
  const verdicts = [...new Set(found.map((one) => one.verdict))].sort(
    (a, b) => rank(a) - rank(b) || a.localeCompare(b),
  );
  const top = h("div", { class: "inside-top", role: "group", "aria-label": "verdict" });
  const body = h("div", {});
  fill(element, top, body);
  const refresh = () => {
    const wanted = memory.get("verdict") || (verdicts.includes("transition") ? "transition" : "all");
    const many = (verdict: string) => found.filter((one) => verdict === "all" || one.verdict === verdict);
    fill(
      top,
      ...[...verdicts, "all"].map((verdict) =>
        chip(verdict, many(verdict).length, verdict === wanted, memory),
      ),
    );
    const shown = many(wanted);
    table?.destroy();
    if (!shown.length) return say(body, "No series was looked at.");
    table = drawFigure(body, transitionTable(shown, runs), {
      table: tableOptions(shown, runs.size > 1, memory, links),
    });
  };
  const stop = memory.watch(refresh);
  refresh();
  return {
    destroy: () => {
      stop();
      table?.destroy();
      element.replaceChildren();
    },
  };
}

/** How the table is sorted, and what a picked row leads to; `several` runs have a column of names before. */
function tableOptions(shown: Transition[], several: boolean, memory: Memory, links: Links): TableOptions {
  const known = new Map(shown.map((one) => [rowKey(one), one]));
  const offset = several ? 1 : 0;
  const sort = memory.get("sort");
  const [column, down] = sort.split(".").map(Number);
  return {
    caption: plural(shown.length, "series", "series"),
    sorted:
      sort && Number.isFinite(column)
        ? { column: column!, down: down === 1 }
        : { column: 4 + offset, down: false },
    onSort: (by, falling) => memory.set({ sort: `${by}.${falling ? 1 : 0}` }),
    pick: (row) => pick(known, row, offset, memory, links),
  };
}

function rank(verdict: string): number {
  return verdict === "transition" ? 0 : 1;
}

function chip(verdict: string, many: number, on: boolean, memory: Memory): HTMLElement {
  const made = h(
    "button",
    { type: "button", class: "figure-button", "aria-pressed": String(on) },
    `${verdict} ${many}`,
  );
  made.addEventListener("click", () => memory.set({ verdict }));
  return made;
}

function rowKey(one: Transition): string {
  return JSON.stringify([partWords(one), one.where, words(one.stimulus), one.step]);
}

function words(name: string): string {
  return name.replace(/_/g, " ");
}

function partWords(one: Transition): string {
  return words(one.component ? `${one.part} ${one.component}` : one.part);
}

/** Marks a transition's step in every drawing, and makes its part and place the chosen ones. */
function pick(
  known: Map<string, Transition>,
  row: Cell[],
  offset: number,
  memory: Memory,
  links: Links,
): void {
  const one = known.get(JSON.stringify([row[offset], row[offset + 1], row[offset + 2], row[offset + 4]]));
  if (!one) return;
  if (one.step !== null) links.of("step").setPlace(one.step);
  const chosen: Record<string, string> = { part: one.part, stimulus: one.stimulus, component: one.component };
  if (one.place.head !== undefined) chosen.head = `${one.place.layer}.${one.place.head}`;
  if (one.step !== null) chosen.step = String(Math.round(one.step));
  memory.set(chosen);
}

/** Every series that was looked at: what was claimed, what was not and why; each tied to the drawings. */

import { drawFigure, type DrawnFigure } from "../figure/draw";
import type { Cell, Column, Figure, Table } from "../figure/description";
import { fill, h } from "../figure/dom";
import { Links } from "../figure/link";
import { plural } from "../figure/numbers";
import type { Lead, TableOptions } from "../figure/table";
import type { Leading } from "./leads";
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
export function transitionTable(found: Transition[], runs: Map<string, string>): Table {
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
  return { mark: "Table", columns, rows };
}

function alone(table: Table): Figure {
  const scales = { x_scale: "linear", y_scale: "linear" } as const;
  const empty = { x: "", y: "", x_range: null, y_range: null, latest: "" };
  const panel = { title: "Transitions", marks: [table], ...scales, ...empty };
  return { title: "", note: "", columns: 1, panels: [panel] };
}

/**
 * Mounts the table with a filter by verdict. With `leads`, rows are links to where they are to be seen;
 * without pages to lead to, a row that is picked marks its step everywhere.
 */
export function transitionsView(
  element: HTMLElement,
  found: Transition[],
  runs: Map<string, string>,
  memory: Memory,
  links = new Links(),
  leads?: () => Leading,
): Shown {
  const view = new TransitionsView(element, found, runs, memory, links, leads);
  view.refresh();
  return view;
}

class TransitionsView implements Shown {
  private drawn: DrawnFigure | null = null;
  private key = "";
  private leading: Leading | undefined;
  private readonly verdicts: string[];
  private readonly top = h("div", { class: "inside-top", role: "group", "aria-label": "verdict" });
  private readonly body = h("div", {});
  private readonly stop: () => void;

  constructor(
    private readonly element: HTMLElement,
    private readonly found: Transition[],
    private readonly runs: Map<string, string>,
    private readonly memory: Memory,
    private readonly links: Links,
    private readonly leads?: () => Leading,
  ) {
    this.verdicts = [...new Set(found.map((one) => one.verdict))].sort(
      (a, b) => rank(a) - rank(b) || a.localeCompare(b),
    );
    fill(element, this.top, this.body);
    this.stop = memory.watch(this.refresh);
  }

  destroy = (): void => {
    this.stop();
    this.drawn?.destroy();
    this.element.replaceChildren();
  };

  /** Draws again what another verdict or order shows, and when it becomes known which rows lead somewhere. */
  refresh = (): void => {
    const wanted =
      this.memory.get("verdict") || (this.verdicts.includes("transition") ? "transition" : "all");
    const leading = (this.leading = this.leads?.());
    const led = leading && this.found.map((one) => leading(one) !== null);
    const key = JSON.stringify([wanted, this.memory.get("sort"), led]);
    if (key === this.key) return;
    this.key = key;
    const rows = () => [...this.body.querySelectorAll("tbody tr")];
    const focused = rows().findIndex((row) => row.contains(document.activeElement));
    this.draw(wanted);
    rows()[focused]?.querySelector<HTMLElement>("a, button")?.focus();
  };

  private draw(wanted: string): void {
    const of = (verdict: string) => this.found.filter((one) => verdict === "all" || one.verdict === verdict);
    fill(
      this.top,
      ...[...this.verdicts, "all"].map((verdict) =>
        chip(verdict, of(verdict).length, verdict === wanted, this.memory),
      ),
    );
    const shown = of(wanted);
    this.drawn?.destroy();
    if (!shown.length) return say(this.body, "No series was looked at.");
    const table = transitionTable(shown, this.runs);
    this.drawn = drawFigure(this.body, alone(table), { table: this.options(shown, table) });
  }

  /** Where a transition leads, and what it is of. */
  private lead(one: Transition): Lead | null {
    const found = this.leading!(one);
    const run = this.runs.size > 1 ? (this.runs.get(one.run) ?? one.run) : "";
    const name = [run, partWords(one), one.where].filter(Boolean).join(" ");
    return found && { href: found.href(), name: `${name}: ${found.to}` };
  }

  /** How the table is sorted, and what a picked row does where it leads nowhere. */
  private options(shown: Transition[], table: Table): TableOptions {
    const sort = this.memory.get("sort");
    const [column, down] = sort.split(".").map(Number);
    const of = (row: Cell[]) => shown[table.rows.indexOf(row)]!;
    const part = table.columns.findIndex(({ title }) => title === "part");
    const lead = { column: part, of: (row: Cell[]) => this.lead(of(row)) };
    const pick = (row: Cell[]) => mark(of(row), this.memory, this.links);
    return {
      caption: plural(shown.length, "series", "series"),
      sorted:
        sort && Number.isFinite(column)
          ? { column: column!, down: down === 1 }
          : { column: table.columns.findIndex(({ kind }) => kind === "step"), down: false },
      onSort: (by, falling) => this.memory.set({ sort: `${by}.${falling ? 1 : 0}` }),
      ...(this.leads ? { lead } : { pick }),
    };
  }
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

function words(name: string): string {
  return name.replace(/_/g, " ");
}

function partWords(one: Transition): string {
  return words(one.component ? `${one.part} ${one.component}` : one.part);
}

/** Marks a transition's step in every drawing, and makes its part and place the chosen ones. */
function mark(one: Transition, memory: Memory, links: Links): void {
  if (one.step !== null) links.of("step").setPlace(one.step);
  const chosen: Record<string, string> = { part: one.part, stimulus: one.stimulus, component: one.component };
  if (one.place.head !== undefined) chosen.head = `${one.place.layer}.${one.place.head}`;
  if (one.step !== null) chosen.step = String(Math.round(one.step));
  memory.set(chosen);
}

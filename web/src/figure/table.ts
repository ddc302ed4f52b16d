/** Tables: sortable by any column, cells written as in a report. */

import type { Cell, Column, Table } from "./description";
import { fill, h, named, shown } from "./dom";
import { count, interval, MISSING, number, probability } from "./numbers";

const NUMERIC = ["step", "number", "probability", "interval"];

/** Where something is to be seen. */
export interface Lead {
  href: string;
  /** What the link is of and what it opens, in words. */
  name: string;
}

export interface TableOptions {
  /** A caption for those who do not see where the table stands. */
  caption?: string;
  /** Rows become buttons. */
  pick?: (row: Cell[]) => void;
  /**
   * Rows that lead somewhere: their cell in that column is a link, and a click anywhere in them follows it.
   * Asked again before a link can be used: where it leads may depend on what else is shown.
   */
  lead?: { column: number; of: (row: Cell[]) => Lead | null };
  /** Column by which it is sorted first, and how. */
  sorted?: { column: number; down: boolean };
  onSort?: (column: number, down: boolean) => void;
}

/** A cell in words. */
export function cellWords(column: Column, value: Cell): string {
  if (column.kind === "interval") return interval(Array.isArray(value) ? value : null);
  if (value === null || value === "" || Array.isArray(value)) return MISSING;
  if (typeof value === "string" && column.kind !== "number") return value;
  const write = { step: count, number, probability }[column.kind as "step"] ?? String;
  return write(Number(value));
}

/** A table element; a click on a column's title sorts by it, and once more the other way. */
export function tableElement(table: Table, options: TableOptions = {}): HTMLElement {
  const kept = table.columns
    .map((_, index) => index)
    .filter((index) => table.rows.some((row) => !empty(row[index]!)));
  const body = h("tbody", {});
  let by = options.sorted ?? null;
  const buttons = kept.map((index) => {
    const column = table.columns[index]!;
    const button = h("button", { type: "button", class: "figure-sort" }, column.title);
    button.addEventListener("click", () => {
      by = { column: index, down: by?.column === index ? !by.down : column.kind === "number" };
      options.onSort?.(by.column, by.down);
      show();
    });
    return h("th", { scope: "col", class: classOf(column) }, button);
  });
  const show = () => {
    const rows = by ? sorted(table.rows, by.column, by.down) : table.rows;
    fill(body, ...rows.map((row) => rowElement(table, kept, row, options)));
    buttons.forEach((cell, nth) => {
      const mine = by?.column === kept[nth];
      cell.setAttribute("aria-sort", mine ? (by!.down ? "descending" : "ascending") : "none");
    });
  };
  show();
  const caption = options.caption ? h("caption", { class: "figure-hidden" }, options.caption) : null;
  return h(
    "div",
    { class: "figure-table" },
    h("table", {}, caption, h("thead", {}, h("tr", {}, ...buttons)), body),
  );
}

function rowElement(table: Table, kept: number[], row: Cell[], { pick, lead }: TableOptions): HTMLElement {
  const link = lead?.of(row) ? h("a", { class: "figure-lead" }) : null;
  const cells = kept.map((index, nth) => {
    const column = table.columns[index]!;
    const words = named(cellWords(column, row[index]!));
    const inside = nth === 0 && pick ? h("button", { type: "button", class: "figure-pick" }, words) : words;
    if (link && index === lead!.column) link.append(inside);
    return h("td", { class: classOf(column) }, link && index === lead!.column ? link : inside);
  });
  const made = h("tr", pick || link ? { class: "figure-row" } : {}, ...cells);
  if (pick) made.addEventListener("click", () => pick(row));
  if (link) leads(made, link, () => lead!.of(row));
  return made;
}

/** Keeps a row's link up to date, and has a click anywhere on the row follow it, unless words were marked. */
function leads(row: HTMLElement, link: HTMLAnchorElement, lead: () => Lead | null): void {
  const look = () => {
    const { href, name } = lead() ?? { href: "", name: "" };
    link.href = href;
    link.title = name;
    link.setAttribute("aria-label", shown(name));
  };
  look();
  for (const event of ["pointerenter", "focusin"]) row.addEventListener(event, look);
  row.addEventListener("click", (event) => {
    const elsewhere = (event.target as Element).closest("a, button");
    if (!elsewhere && !event.ctrlKey && !event.metaKey && !String(getSelection())) link.click();
  });
}

function classOf(column: Column): string {
  return NUMERIC.includes(column.kind) ? "numeric" : column.kind;
}

function empty(value: Cell): boolean {
  return value === null || value === "";
}

function sorted(rows: Cell[][], column: number, down: boolean): Cell[][] {
  const key = (row: Cell[]) =>
    Array.isArray(row[column]) ? (row[column] as (number | null)[])[0]! : row[column]!;
  // What is missing stays last whichever way it is sorted.
  return [...rows].sort((first, second) => {
    const [a, b] = [key(first), key(second)];
    if (empty(a) || empty(b)) return Number(empty(a)) - Number(empty(b));
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    return down ? -order : order;
  });
}

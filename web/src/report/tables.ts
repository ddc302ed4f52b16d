/** Makes the tables of a page sortable, filters them by verdict, and ties their rows to the drawings. */

import { h } from "../figure/dom";
import type { Link } from "../figure/link";

/** What a cell says as something to sort by: its first number if it has one, else its words. */
function keyOf(cell: HTMLTableCellElement | undefined): number | string | null {
  const words = cell?.textContent?.trim() ?? "";
  if (!words || words === "—") return null;
  const number = /^[<=\s]*([−-]?[\d,]*\.?\d+(?:e[−-]?\d+)?)([kMG]?)\b/.exec(words);
  if (!number) return words.toLowerCase();
  const size = { "": 1, k: 1e3, M: 1e6, G: 1e9 }[number[2] as ""]!;
  return Number(number[1]!.replace(/,/g, "").replace(/−/g, "-")) * size;
}

function compare(a: number | string | null, b: number | string | null, down: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  return down ? -order : order;
}

/** A click on a column's title sorts by it, and once more the other way. */
export function sortable(table: HTMLTableElement): void {
  const body = table.tBodies[0];
  if (!body || body.rows.length < 3) return;
  const heads = [...table.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    let down = head.classList.contains("numeric");
    const button = h("button", { type: "button", class: "figure-sort" }, head.textContent);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const rows = [...body.rows].sort((a, b) =>
        compare(keyOf(a.cells[column]), keyOf(b.cells[column]), down),
      );
      body.append(...rows);
      heads.forEach((one) => one.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      down = !down;
    });
  });
}

/** Buttons that leave only the rows of one verdict. */
export function filterable(table: HTMLTableElement): void {
  const column = columnOf(table, "verdict");
  const body = table.tBodies[0];
  if (column < 0 || !body) return;
  const verdict = (row: HTMLTableRowElement) => row.cells[column]?.textContent ?? "";
  const verdicts = [...new Set([...body.rows].map(verdict))];
  if (verdicts.length < 2) return;
  const buttons = ["all", ...verdicts].map((words) => {
    const made = h(
      "button",
      { type: "button", class: "figure-button", "aria-pressed": String(words === "all") },
      words,
    );
    made.addEventListener("click", () => {
      buttons.forEach((one) => one.setAttribute("aria-pressed", String(one === made)));
      for (const row of body.rows) row.hidden = words !== "all" && verdict(row) !== words;
    });
    return made;
  });
  table.parentElement?.before(
    h("div", { class: "verdict-filter", role: "group", "aria-label": "verdict" }, ...buttons),
  );
}

/** A click on a transition's row marks its step in every drawing of the run; once more takes the mark away. */
export function tied(table: HTMLTableElement, link: Link): void {
  const column = columnOf(table, "step");
  if (column < 0 || (columnOf(table, "verdict") < 0 && columnOf(table, "95 % interval") < 0)) return;
  for (const row of table.tBodies[0]?.rows ?? []) {
    const step = keyOf(row.cells[column]);
    const first = row.cells[0];
    if (typeof step !== "number" || !first) continue;
    const button = h("button", {
      type: "button",
      class: "figure-pick",
      title: "mark this step in every drawing",
    });
    button.append(...first.childNodes);
    first.append(button);
    row.classList.add("figure-row");
    row.addEventListener("click", () => link.setPlace(link.place === step ? null : step));
  }
  link.join(table, (change) => {
    if (change !== "place") return;
    for (const row of table.tBodies[0]?.rows ?? []) {
      row.classList.toggle("marked", link.place !== null && keyOf(row.cells[column]) === link.place);
    }
  });
}

function columnOf(table: HTMLTableElement, title: string): number {
  return [...table.querySelectorAll("thead th")].findIndex((head) => head.textContent === title);
}

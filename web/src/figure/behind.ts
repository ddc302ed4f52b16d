/** The numbers behind a drawing: as a table for those who do not see it, as CSV for those who want them. */

import {
  isGrid,
  marksOf,
  type Cell,
  type Column,
  type Heat,
  type Panel,
  type Plain,
  type Table,
} from "./description";

/** A panel's numbers as tables: one of all its lines, one a heat map, one of its transitions. */
export function tablesBehind(panel: Panel): Table[] {
  const lines = panel.marks.filter((mark) => mark.mark === "Line" || mark.mark === "Points");
  const found: Table[] = [];
  if (lines.length) {
    const columns = ["line", panel.x.split(" · ")[0] || "x", panel.y || "value", "low", "high"].map(numeric);
    columns[0] = { title: "line", kind: "name" };
    const rows = lines.flatMap((mark) =>
      mark.x.map((x, i): Cell[] => {
        const band =
          mark.mark === "Line" && mark.low.length ? [cell(mark.low[i]), cell(mark.high[i])] : [null, null];
        return [mark.label, cell(x), cell(mark.y[i]), ...band];
      }),
    );
    found.push({ mark: "Table", columns, rows });
  }
  for (const heat of marksOf(panel, "Heat")) found.push(heatTable(panel, heat));
  const rules = marksOf(panel, "Rule");
  if (rules.length) {
    const columns: Column[] = [
      { title: "transition", kind: "name" },
      numeric("step"),
      { title: "interval", kind: "interval" },
    ];
    found.push({
      mark: "Table",
      columns,
      rows: rules.map((rule) => [rule.label || "transition", rule.x, [rule.low, rule.high]]),
    });
  }
  const rails = marksOf(panel, "Rail").flatMap((rail) =>
    rail.x.map((x, i): Cell[] => [rail.label, cell(x), rail.count[i]!]),
  );
  if (rails.length) {
    const columns: Column[] = [
      { title: "without a number", kind: "name" },
      numeric("step"),
      numeric("how many"),
    ];
    found.push({ mark: "Table", columns, rows: rails });
  }
  return [...found, ...marksOf(panel, "Table")];
}

/** A grid as it is seen; a heat map over steps with a row a step. */
function heatTable(panel: Panel, heat: Heat): Table {
  if (isGrid(heat)) {
    const columns: Column[] = [
      { title: `${panel.y} \\ ${panel.x}`, kind: "name" },
      ...heat.x.map((x) => numeric(String(x))),
    ];
    return {
      mark: "Table",
      columns,
      rows: heat.y.map((name, row): Cell[] => [name, ...heat.values[row]!.map(cell)]),
    };
  }
  const columns: Column[] = [panel.x || "x", ...heat.y].map(numeric);
  const rows = heat.x.map((x, at): Cell[] => [x, ...heat.values.map((row) => cell(row[at]))]);
  return { mark: "Table", columns, rows };
}

function numeric(title: string): Column {
  return { title, kind: "number" };
}

function cell(value: Plain | null | undefined): Cell {
  return value === undefined || value === null ? null : typeof value === "number" ? value : value;
}

/** RFC 4180; text that a spreadsheet would take for a formula is set off by an apostrophe. */
export function csvOf(tables: Table[]): string {
  return tables.map(csvTable).join("\r\n");
}

function csvTable(table: Table): string {
  const lines = [table.columns.map((column) => quoted(column.title)).join(",")];
  for (const row of table.rows) {
    lines.push(
      row
        .map((value) => quoted(Array.isArray(value) ? value.map((side) => side ?? "").join("–") : value))
        .join(","),
    );
  }
  return lines.join("\r\n") + "\r\n";
}

function quoted(value: Cell): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(String(value)) ? `'${String(value)}` : String(value);
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

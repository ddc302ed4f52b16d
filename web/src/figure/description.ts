/** The description of a figure, as `Figure.plain()` of src/ontogeny/views/figure.py writes it. */

/** Non-finite numbers are written by name. */
export type Plain = number | "NaN" | "Infinity" | "-Infinity";
export type ScaleName = "linear" | "log" | "step";

export interface Line {
  mark: "Line";
  label: string;
  x: Plain[];
  y: Plain[];
  low: Plain[];
  high: Plain[];
  role: "series" | "named" | "quiet" | "null" | "superseded";
  hue: number;
  shade: number | null;
}

export interface Points {
  mark: "Points";
  label: string;
  x: Plain[];
  y: Plain[];
  hue: number;
}

export interface Rule {
  mark: "Rule";
  x: number;
  low: number | null;
  high: number | null;
  label: string;
  hue: number | null;
}

export interface Ticks {
  mark: "Ticks";
  x: Plain[];
  label: string;
}

export interface Rail {
  mark: "Rail";
  kind: "nonfinite" | "missing" | "skipped";
  x: Plain[];
  count: number[];
  label: string;
}

export interface Heat {
  mark: "Heat";
  label: string;
  x: (number | string)[];
  y: string[];
  /** Row by row; null is missing, a name of a number is a value that is not finite. */
  values: (Plain | null)[][];
  low: number;
  high: number;
  colours: "sequential" | "diverging";
  scale: "linear" | "log";
}

export interface Words {
  mark: "Text";
  text: string;
}

export type ColumnKind = "text" | "name" | "step" | "number" | "probability" | "interval" | "prose";
export interface Column {
  title: string;
  kind: ColumnKind;
}
export type Cell = string | number | null | (number | null)[];
export interface Table {
  mark: "Table";
  columns: Column[];
  rows: Cell[][];
}

export type Mark = Line | Points | Rule | Ticks | Rail | Heat | Words | Table;

export interface Panel {
  title: string;
  marks: Mark[];
  x: string;
  y: string;
  x_scale: ScaleName;
  y_scale: ScaleName;
  x_range: [number, number] | null;
  y_range: [number, number] | null;
  latest: string;
}

export interface Figure {
  title: string;
  panels: Panel[];
  note: string;
  columns: number;
}

/** Marks of one type, in the panel's order. */
export function marksOf<K extends Mark["mark"]>(panel: Panel, kind: K): Extract<Mark, { mark: K }>[] {
  return panel.marks.filter((mark): mark is Extract<Mark, { mark: K }> => mark.mark === kind);
}

/** Whether a heat map's columns are names, so that no number lies between them. */
export function isGrid(heat: Heat): boolean {
  return heat.x.some((value) => typeof value === "string");
}

/** A panel's lines as uPlot wants them: one x column, and for every line its value and the edges of its band. */

import uPlot from "uplot";
import type { Line, Panel, Plain, Points } from "./description";
import { hueOf, shadeOf, type Theme } from "./theme";

type Column = (number | null | undefined)[];

/** One line or row of points, and which columns of the data are its own (0 is x; -1: it has none). */
export interface Curve {
  mark: Line | Points;
  value: number;
  low: number;
  high: number;
}

export interface Curves {
  data: [number[], ...Column[]];
  curves: Curve[];
  /** Values that a logarithmic axis cannot show. */
  excluded: number;
  /** Column of the line that is nearest to the pointer. */
  focused: number | null;
}

/** What a line's role, shade and hue mean in a theme. */
export function colourOf(mark: Line | Points, theme: Theme): string {
  if (mark.mark === "Points") return hueOf(theme, mark.hue);
  if (mark.shade !== null) return shadeOf(theme, mark.shade);
  if (mark.role === "quiet") return theme.quiet;
  if (mark.role === "null") return theme.null;
  return mark.role === "superseded" ? theme.muted : hueOf(theme, mark.hue);
}

/** Line width of a role, in pixels. */
export function widthOf(mark: Line | Points): number {
  if (mark.mark === "Points") return 0.7;
  return { quiet: 0.7, superseded: 0.8, named: 1.8, series: 1.5, null: 1.5 }[mark.role];
}

/** The curves of a panel over one ascending x; a value that is not finite breaks its line. */
export function curvesOf(panel: Panel): Curves {
  const log = panel.y_scale === "log";
  const tables: [number[], ...Column[]][] = [];
  const curves: Curve[] = [];
  let columns = 1;
  let excluded = 0;
  const numbers = (values: Plain[]): Column =>
    values.map((value) => {
      if (typeof value !== "number") return null;
      if (!log || value > 0) return value;
      excluded += 1;
      return null;
    });
  for (const mark of panel.marks) {
    if (mark.mark !== "Line" && mark.mark !== "Points") continue;
    const curve: Curve = { mark, value: -1, low: -1, high: -1 };
    const own: Column[] = [];
    if (mark.y.length) curve.value = columns + own.push(numbers(mark.y)) - 1;
    if (mark.mark === "Line" && mark.low.length) {
      curve.low = columns + own.push(numbers(mark.low)) - 1;
      curve.high = columns + own.push(numbers(mark.high)) - 1;
    }
    columns += own.length;
    curves.push(curve);
    tables.push(ascending(mark.x, own));
  }
  return { data: merged(tables), curves, excluded, focused: null };
}

/** x and its columns in x's order, without places that are no number. */
function ascending(x: Plain[], columns: Column[]): [number[], ...Column[]] {
  const kept = x.map((_, index) => index).filter((index) => typeof x[index] === "number");
  const place = (index: number) => x[index] as number;
  if (kept.some((index, nth) => nth > 0 && place(kept[nth - 1]!) > place(index))) {
    kept.sort((a, b) => place(a) - place(b));
  }
  return [kept.map(place), ...columns.map((column) => kept.map((index) => column[index]))];
}

function merged(tables: [number[], ...Column[]][]): [number[], ...Column[]] {
  if (!tables.length) return [[]];
  const [first] = tables[0]!;
  const shared = tables.every(
    ([x]) => x.length === first.length && x.every((value, index) => value === first[index]),
  );
  if (shared) return [first, ...tables.flatMap(([, ...columns]) => columns)];
  // Where a line has no point at a step of another's, uPlot is told `undefined`: no gap, unlike `null`.
  return uPlot.join(tables as uPlot.AlignedData[]) as [number[], ...Column[]];
}

/** Two runs, or a branch and the run it left, side by side with their difference. */

import type { Figure, Line, Panel, Plain, Rule } from "../figure/description";
import { extent } from "../figure/scale";
import { PANEL } from "./cube";
import type { Pair } from "./source";

function plain(values: ArrayLike<number>): Plain[] {
  return Array.from(values, (value): Plain => (Number.isFinite(value) ? value : "NaN"));
}

function line(label: string, x: number[], y: ArrayLike<number>, hue: number): Line {
  return { mark: "Line", label, x, y: plain(y), low: [], high: [], role: "named", hue, shade: null };
}

/** Both runs above, their difference below about zero; a hairline where one left the other. */
export function comparison(
  pair: Pair,
  names: [string, string],
  hues: [number, number],
  metric: string,
  forked: number | null,
): Figure {
  const fork: Rule[] =
    forked === null ? [] : [{ mark: "Rule", x: forked, low: null, high: null, label: "fork", hue: null }];
  const reach = extent(pair.difference.filter(Number.isFinite).map(Math.abs))[1];
  const zero: Line = { ...line("", [pair.x[0] ?? 0, pair.x.at(-1) ?? 1], [0, 0], 0), role: "quiet" };
  const both: Panel = {
    ...PANEL,
    title: metric,
    marks: [line(names[0], pair.x, pair.a, hues[0]), line(names[1], pair.x, pair.b, hues[1]), ...fork],
  };
  const difference: Panel = {
    ...PANEL,
    title: "difference",
    y: `${names[1]} − ${names[0]}`,
    marks: [zero, line("", pair.x, pair.difference, hues[1]), ...fork],
    y_range: reach > 0 ? [-1.05 * reach, 1.05 * reach] : null,
    latest: reach === 0 ? "equal at every step" : "",
  };
  const note = "Compared step by step on shared buckets. One pair of runs is an effect, and no p-value.";
  return { title: "", panels: [both, difference], note, columns: 1 };
}

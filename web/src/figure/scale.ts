/** Axes as a description asks for them; the same rules as report/axes.py. */

import { isGrid, marksOf, type Heat, type Panel, type Plain, type ScaleName } from "./description";

export const MOST_TICKS = 5;
export type Range = [number, number];

/** Onto the scale's own ruler: `step` is ln(1 + step). */
export function onto(scale: ScaleName, value: number): number {
  return scale === "step" ? Math.log1p(Math.max(value, 0)) : scale === "log" ? Math.log(value) : value;
}

/** Back from the ruler. */
export function back(scale: ScaleName, place: number): number {
  return scale === "step" ? Math.expm1(place) : scale === "log" ? Math.exp(place) : place;
}

/** Where a number falls between two limits, 0 at the first and 1 at the second. */
export function along(scale: ScaleName, [low, high]: Range, value: number): number {
  const from = onto(scale, low);
  return (onto(scale, value) - from) / (onto(scale, high) - from);
}

/** The number at a place between two limits. */
export function at(scale: ScaleName, [low, high]: Range, place: number): number {
  const from = onto(scale, low);
  return back(scale, from + place * (onto(scale, high) - from));
}

/** Finite numbers of a list that may hold names of numbers. */
export function finite(values: readonly (Plain | null)[]): number[] {
  return values.filter((value): value is number => typeof value === "number");
}

/** Limits around values, with a little room where `padding` says so, in the scale's own terms. */
export function limits(given: Range | null, values: number[], scale: ScaleName, padding: number): Range {
  if (given && given[0] < given[1] && (scale !== "log" || given[0] > 0)) return given;
  const [low, high] = extent(scale === "log" ? values.filter((value) => value > 0) : values);
  if (low > high) return scale === "log" ? [0.1, 1] : [0, 1];
  if (scale === "log") {
    const room = Math.max(high / low, 1.2) ** padding;
    return [low / room, high * room];
  }
  // A mean of equal numbers differs from them by rounding; that is no range to show.
  if (high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high))) {
    const room = Math.abs(low) * 0.1 || 0.5;
    return [low - room, high + room];
  }
  return [low - padding * (high - low), high + padding * (high - low)];
}

/** Least and greatest; [Infinity, -Infinity] of nothing. */
export function extent(values: Iterable<number>): Range {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/** Where a panel's x axis begins and ends: its heat map's outer edges, else its range, else its marks. */
export function xLimits(panel: Panel): Range {
  const heat = marksOf(panel, "Heat")[0];
  if (heat) {
    const edges = columnEdges(heat, panel.x_scale);
    return [edges[0]!, edges[edges.length - 1]!];
  }
  const found: number[] = [];
  for (const mark of panel.marks) {
    if (mark.mark === "Rule") found.push(mark.x);
    else if (mark.mark !== "Table" && mark.mark !== "Text" && mark.mark !== "Heat")
      found.push(...finite(mark.x));
  }
  return limits(panel.x_range, found, panel.x_scale, 0);
}

/** At most five round numbers inside the range; 0 is among them on a step axis that begins there. */
export function ticks([low, high]: Range, scale: ScaleName, most = MOST_TICKS): number[] {
  if (scale === "linear") return roundNumbers(low, high, most);
  const bottom = scale === "log" ? Math.max(low, 1e-300) : Math.max(low, 1);
  const first = Math.floor(Math.log10(bottom));
  const last = Math.ceil(Math.log10(scale === "step" ? Math.max(high, 1) : high));
  const decades: number[] = [];
  for (let power = first; power <= last; power++) decades.push(Number(`1e${power}`));
  let inside = within(decades, low, high);
  if (inside.length < 3) {
    inside = within(
      decades.flatMap((decade) => [decade, 2 * decade, 5 * decade]),
      low,
      high,
    );
  }
  if (inside.length < 2) return roundNumbers(low, high, most);
  const zero = scale === "step" && low <= 0 ? [0] : [];
  const stride = Math.ceil(inside.length / (most - zero.length));
  return [...zero, ...inside.filter((_, index) => (inside.length - 1 - index) % stride === 0)];
}

function within(candidates: number[], low: number, high: number): number[] {
  const slack = 1e-9 * Math.max(Math.abs(low), Math.abs(high));
  return candidates.filter((value) => low - slack <= value && value <= high + slack);
}

function roundNumbers(low: number, high: number, most: number): number[] {
  const wanted = (high - low) / (most - 1);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const width = [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= wanted * (1 - 1e-9))!;
  const found: number[] = [];
  for (let index = Math.ceil(low / width - 1e-9); index * width <= high + 1e-9 * width; index++) {
    found.push(Number((index * width).toPrecision(12)));
  }
  return found;
}

/** Edges of a heat map's columns: half-way between neighbours on the scale; whole numbers for names. */
export function columnEdges(heat: Heat, scale: ScaleName): number[] {
  const columns = heat.x.length;
  if (isGrid(heat)) return Array.from({ length: columns + 1 }, (_, index) => index - 0.5);
  const place = heat.x.map((value) => onto(scale, value as number));
  const edges = place.length === 1 ? [place[0]! - 0.5, place[0]! + 0.5] : between(place);
  return edges.map((edge) => back(scale, scale === "step" ? Math.max(edge, 0) : edge));
}

function between(place: number[]): number[] {
  const middle = place.slice(1).map((value, index) => (value + place[index]!) / 2);
  return [2 * place[0]! - middle[0]!, ...middle, 2 * place[place.length - 1]! - middle[middle.length - 1]!];
}

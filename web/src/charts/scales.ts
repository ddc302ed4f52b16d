/** Axes: where they begin and end, and where their ticks are. */

import type uPlot from "uplot";
import type { AxisName } from "../api";
import type { XScale, YScale } from "../state";
import type { Extent } from "./trace";
import { compact, duration, value } from "../format";

/** ln(1 + x): nearly logarithmic, yet step 0 has its place. */
const LOG_X = { distr: 100 as uPlot.Scale.Distr, fwd: Math.log1p, bwd: Math.expm1 };

export function xScale(kind: XScale, range: () => [number, number]): uPlot.Scale {
  return { time: false, auto: false, range, ...(kind === "log" ? LOG_X : {}) };
}

const PAD = 0.06;

/** The range of y for what is drawn, with some air; a flat line gets a range around it. */
export function yRange(kind: YScale, found: Extent, threshold: number): [number, number] {
  if (!Number.isFinite(found.low)) return kind === "log" ? [1, 10] : [0, 1];
  const [forth, back] = bends(kind, threshold);
  const low = forth(kind === "log" ? (Number.isFinite(found.positive) ? found.positive : 1) : found.low);
  const high = forth(
    kind === "log" ? Math.max(found.high, Number.isFinite(found.positive) ? found.positive : 10) : found.high,
  );
  const span = high - low || Math.abs(high) * 0.1 || 1;
  return [back(low - span * PAD), back(high + span * PAD)];
}

/** The function that straightens a scale, and its inverse. */
export function bends(kind: YScale, threshold: number): [(v: number) => number, (v: number) => number] {
  if (kind === "log") return [Math.log10, (v) => 10 ** v];
  if (kind === "arcsinh") return [(v) => Math.asinh(v / threshold), (v) => threshold * Math.sinh(v)];
  return [(v) => v, (v) => v];
}

/** Where arcsinh turns from linear to logarithmic: the power of ten at the middle of the sizes. */
export function turn(found: Extent): number {
  const size = Math.max(Math.abs(found.low), Math.abs(found.high));
  const small = Number.isFinite(found.positive) ? Math.max(found.positive, size * 1e-6) : size;
  const middle = Math.sqrt(small * size);
  return middle > 0 && Number.isFinite(middle) ? 10 ** Math.floor(Math.log10(middle)) : 1;
}

export function yScale(kind: YScale, threshold: number, range: () => [number, number]): uPlot.Scale {
  if (kind === "log") return { distr: 3, log: 10, auto: false, range };
  if (kind === "linear") return { auto: false, range };
  const [fwd, bwd] = bends(kind, threshold);
  return { distr: 100 as uPlot.Scale.Distr, fwd, bwd, auto: false, range };
}

/** Ticks of ln(1 + x) and of arcsinh: zero and round numbers, thinned until they have room. */
export function bentSplits(forth: (v: number) => number, low: number, high: number, most: number): number[] {
  const room = (forth(high) - forth(low)) / most / 1.4;
  const kept: number[] = [];
  for (const parts of [[1], [2, 5]]) {
    // Doubles and halves only where powers of ten are too few.
    if (kept.length >= 3) break;
    for (const candidate of [0, ...signed(parts)]) {
      if (candidate < low || candidate > high) continue;
      if (kept.every((other) => Math.abs(forth(other) - forth(candidate)) >= room)) kept.push(candidate);
    }
  }
  return kept.length >= 3 ? kept.sort((a, b) => a - b) : evenly(low, high, most);
}

/** These multiples of all powers of ten and their negatives, the largest first. */
function signed(parts: number[]): number[] {
  const powers = Array.from({ length: 28 }, (_, index) => 10 ** (15 - index));
  return powers.flatMap((power) => parts.flatMap((part) => [part * power, -part * power]));
}

/** Round numbers, evenly. */
export function evenly(low: number, high: number, most: number): number[] {
  const rough = (high - low) / Math.max(1, most);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough)!;
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) ticks.push(k === 0 ? 0 : k * step);
  return ticks;
}

/** Ticks of a logarithmic axis: powers of ten, or 1-2-5 where there are few. */
export function logSplits(low: number, high: number, most: number): number[] {
  const powers: number[] = [];
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  for (let power = first; power <= last; power++) powers.push(power);
  const fits = (ticks: number[]) => ticks.filter((v) => v >= low && v <= high);
  for (const parts of [[1, 2, 5], [1, 3], [1]]) {
    const ticks = fits(powers.flatMap((power) => parts.map((part) => part * 10 ** power)));
    if (ticks.length <= most && ticks.length >= 2) return ticks;
  }
  const whole = fits(powers.map((power) => 10 ** power));
  const skip = Math.ceil(whole.length / most);
  return whole.length >= 2 ? whole.filter((_, index) => index % skip === 0) : evenly(low, high, most);
}

/** Round durations, in seconds. */
const DURATIONS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
];

function durations(low: number, high: number, most: number): number[] {
  const rough = (high - low) / Math.max(1, most);
  const step = DURATIONS.find((candidate) => candidate >= rough);
  if (step === undefined) return evenly(low / 86_400, high / 86_400, most).map((day) => day * 86_400);
  const found: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  return found;
}

/** At most about `most` ticks between two ends of an axis. */
export function ticks(
  kind: YScale | XScale,
  side: "x" | "y",
  threshold: number,
  low: number,
  high: number,
  most: number,
  axis: AxisName | "y",
): number[] {
  if (kind === "linear")
    return axis === "time" && high - low > 5 ? durations(low, high, most) : evenly(low, high, most);
  if (side === "x") return bentSplits(Math.log1p, low, high, most);
  return kind === "log" ? logSplits(low, high, most) : bentSplits(bends(kind, threshold)[0], low, high, most);
}

export function tickText(axis: AxisName | "y", number: number): string {
  if (axis === "time") return duration(number);
  const size = Math.abs(number);
  return axis === "y" && (size < 1e4 || size >= 1e15) ? value(number) : compact(number);
}

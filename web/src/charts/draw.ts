/** What uPlot does not draw: spikes, the rail above, what happened along x, names at line ends. */

import type uPlot from "uplot";
import type { Theme } from "../theme";
import { faded } from "../theme";
import { visible, type Trace } from "./trace";

/** What happened along x, in units of the axis. */
export interface Happenings {
  checkpoints: number[];
  transitions: { at: number; low: number | null; high: number | null; colour: string; label: string }[];
  forks: { at: number; colour: string; label: string }[];
  /** The scrubber's place: one, or over time one a run. */
  steps: number[];
}

export const NOTHING: Happenings = { checkpoints: [], transitions: [], forks: [], steps: [] };

type Place = (value: number) => number;

export interface Plane {
  ctx: CanvasRenderingContext2D;
  x: Place;
  y: Place;
  left: number;
  top: number;
  width: number;
  height: number;
  ratio: number;
  from: number;
  to: number;
}

/** From values to canvas pixels; on a linear axis without asking uPlot for each of thousands. */
function place(u: uPlot, axis: "x" | "y"): Place {
  const { distr, min, max } = u.scales[axis];
  if (distr !== 1 || min == null || max == null || min === max)
    return (value) => u.valToPos(value, axis, true);
  const start = u.valToPos(min, axis, true);
  const slope = (u.valToPos(max, axis, true) - start) / (max - min);
  return (value) => start + (value - min) * slope;
}

export function plane(u: uPlot): Plane {
  const { left, top, width, height } = u.bbox;
  return {
    ctx: u.ctx,
    x: place(u, "x"),
    y: place(u, "y"),
    left,
    top,
    width,
    height,
    ratio: devicePixelRatio,
    from: u.scales.x.min!,
    to: u.scales.x.max!,
  };
}

export function clip(p: Plane): void {
  p.ctx.beginPath();
  p.ctx.rect(p.left, p.top, p.width, p.height);
  p.ctx.clip();
}

/** What must not be overlooked is firm even in a pale trace; one that is faded for another stays so. */
const firm = (alpha: number): number => (alpha < 0.2 ? alpha : Math.max(0.65, 0.8 * alpha));

/** A lone bucket that sticks out of its neighbours, as a firm stroke. */
export function drawSpikes(p: Plane, trace: Trace, alpha: number, floor: number): void {
  const { x, low, high, line } = trace;
  const [first, last] = visible(trace, p.from, p.to);
  const { ctx, ratio } = p;
  ctx.strokeStyle = faded(trace.colour, firm(alpha));
  ctx.lineWidth = ratio;
  ctx.beginPath();
  const most = x.length - 1;
  for (let index = first; index <= last; index++) {
    if (high[index] === low[index] || !Number.isFinite(high[index])) continue;
    const [before, after] = [index && index - 1, index < most ? index + 1 : most];
    const top = p.y(high[index]);
    const bottom = p.y(Math.max(low[index], floor));
    const least = Math.max((bottom - top) / 2, 3 * ratio);
    const rises = p.y(Math.max(high[before] || 0, high[after] || 0, floor)) - top > least;
    const falls = bottom - p.y(Math.max(Math.min(low[before] || 0, low[after] || 0), floor)) > least;
    if (!rises && !falls) continue;
    const here = p.y(Math.min(Math.max(line[index], low[index], floor), high[index]));
    const at = Math.round(p.x(x[index])) + 0.5;
    ctx.moveTo(at, rises ? top : here);
    ctx.lineTo(at, falls ? bottom : here);
  }
  ctx.stroke();
}

/** Values that are not finite: marks above the plot, so that none can be taken for a number. */
export function drawRail(p: Plane, list: Trace[], alphas: number[]): void {
  const { ctx, ratio } = p;
  const y = p.top - 5 * ratio;
  const arm = 2.5 * ratio;
  list.forEach((trace, which) => {
    ctx.strokeStyle = faded(trace.colour, firm(alphas[which]));
    ctx.lineWidth = 1.5 * ratio;
    ctx.beginPath();
    for (let index = 0; index < trace.nonfinite.length; index++) {
      if (!trace.nonfinite[index] || trace.x[index] < p.from || trace.x[index] > p.to) continue;
      const at = p.x(trace.x[index]);
      ctx.moveTo(at - arm, y - arm);
      ctx.lineTo(at + arm, y + arm);
      ctx.moveTo(at - arm, y + arm);
      ctx.lineTo(at + arm, y - arm);
    }
    ctx.stroke();
  });
}

/** On a logarithmic axis: a tick on the floor where a bucket holds something at or below zero. */
export function drawExcluded(p: Plane, trace: Trace, alpha: number): void {
  const { ctx, ratio } = p;
  const y = p.top + p.height;
  ctx.fillStyle = faded(trace.colour, alpha);
  for (let index = 0; index < trace.x.length; index++) {
    if (!(trace.low[index] <= 0)) continue;
    if (trace.x[index] < p.from || trace.x[index] > p.to) continue;
    const at = p.x(trace.x[index]);
    ctx.beginPath();
    ctx.moveTo(at - 3 * ratio, y - 5 * ratio);
    ctx.lineTo(at + 3 * ratio, y - 5 * ratio);
    ctx.lineTo(at, y);
    ctx.fill();
  }
}

/** Bands and hairlines of transitions; drawn below the data. */
export function drawTransitions(p: Plane, happenings: Happenings): void {
  const { ctx, ratio } = p;
  for (const colour of new Set(happenings.transitions.map((one) => one.colour))) {
    const these = happenings.transitions.filter((one) => one.colour === colour);
    // One path for all intervals: where they overlap, the band is not darker.
    ctx.beginPath();
    for (const { low, high } of these) {
      if (low !== null && high !== null) ctx.rect(p.x(low), p.top, p.x(high) - p.x(low), p.height);
    }
    ctx.fillStyle = faded(colour, 0.08);
    ctx.fill();
    ctx.fillStyle = faded(colour, 0.5);
    for (const { at } of these)
      ctx.fillRect(Math.round(p.x(at)), p.top, Math.max(1, Math.round(ratio)), p.height);
  }
}

/** Checkpoints as ticks on the axis, the scrubber's place as a longer one, forks as a branching glyph. */
export function drawAxisMarks(p: Plane, happenings: Happenings, theme: Theme): void {
  const { ctx, ratio } = p;
  const y = p.top + p.height;
  const inside = (at: number) => at >= p.from && at <= p.to;
  ctx.fillStyle = happenings.checkpoints.length > 40 ? theme.quiet : theme.muted;
  for (const at of happenings.checkpoints) {
    if (inside(at))
      ctx.fillRect(Math.round(p.x(at)), y - 5 * ratio, Math.max(1, Math.round(ratio)), 5 * ratio);
  }
  ctx.fillStyle = theme.ink;
  for (const step of happenings.steps.filter(inside)) {
    ctx.beginPath();
    const at = p.x(step);
    ctx.moveTo(at, y - 7 * ratio);
    ctx.lineTo(at + 4.5 * ratio, y);
    ctx.lineTo(at - 4.5 * ratio, y);
    ctx.fill();
  }
  for (const fork of happenings.forks) if (inside(fork.at)) drawFork(p, p.x(fork.at), y, fork.colour);
}

function drawFork(p: Plane, x: number, y: number, colour: string): void {
  const { ctx, ratio } = p;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5 * ratio;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x, y - 6 * ratio);
  ctx.lineTo(x + 5 * ratio, y - 12 * ratio);
  ctx.moveTo(x, y - 6 * ratio);
  ctx.lineTo(x - 5 * ratio, y - 12 * ratio);
  ctx.stroke();
}

/** Names at the ends of at most five lines, pushed apart until none covers another. */
export function drawNames(p: Plane, list: Trace[], alphas: number[], font: string): void {
  const { ctx, ratio } = p;
  const room = 13 * ratio;
  const names = list
    .map((trace, index) => ({ trace, alpha: alphas[index], end: lastIn(trace, p.to) }))
    .filter(({ trace, end }) => trace.label && end >= 0)
    .map((entry) => ({
      ...entry,
      y: Math.min(Math.max(p.y(entry.trace.line[entry.end]), p.top), p.top + p.height),
    }))
    .sort((a, b) => a.y - b.y);
  for (let index = 1; index < names.length; index++)
    names[index].y = Math.max(names[index].y, names[index - 1].y + room);
  for (let index = names.length - 1, most = p.top + p.height; index >= 0; index--, most -= room) {
    names[index].y = Math.min(names[index].y, most);
  }
  ctx.font = font;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  for (const { trace, y, alpha } of names) {
    ctx.fillStyle = faded(trace.colour, alpha);
    const left = p.left + p.width + 5 * ratio;
    ctx.fillText(fitted(ctx, trace.label, ctx.canvas.width - left), left, y);
  }
}

/** A name cut to a width, with a sign that it was cut. */
function fitted(ctx: CanvasRenderingContext2D, text: string, width: number): string {
  if (ctx.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && ctx.measureText(text.slice(0, end) + "…").width > width) end--;
  return text.slice(0, end) + "…";
}

/** The last bucket with a finite value at or before x. */
export function lastIn(trace: Trace, x: number): number {
  let index = trace.x.length - 1;
  while (index >= 0 && (trace.x[index] > x || !Number.isFinite(trace.line[index]))) index--;
  return index;
}

/** What a panel shows besides its lines: transitions, checkpoints, spikes, the rail, labels. In CSS pixels. */

import type uPlot from "uplot";
import { colourOf, type Curve, type Curves } from "./curves";
import { marksOf, type Line, type Panel, type Points, type Rule } from "./description";
import { label } from "./dom";
import { FACE, LABEL, spread, stack, width } from "./lettering";
import { count } from "./numbers";
import { once } from "../once";
import { finite } from "./scale";
import { faded, hueOf, type Theme } from "./theme";

export const RULE_ROW = 14;
export const RAIL_ROW = 13;
const MOST_LABELS = 6;
/** The last tick of x reaches this far beyond the plot. */
const LEAST_RIGHT = 18;
const MOST_RIGHT = 130;

/** The plot's rectangle and its canvas, with a pixel of the page as the unit. */
interface Plot {
  context: CanvasRenderingContext2D;
  left: number;
  top: number;
  wide: number;
  high: number;
  x: (value: number) => number;
  y: (value: number) => number;
}

/** Paints in page pixels, with the canvas left as it was. */
function onPlot(u: uPlot, clipped: boolean, paint: (plot: Plot) => void): void {
  const ratio = u.ctx.canvas.width / u.width;
  const { left, top, width: wide, height: high } = u.bbox;
  u.ctx.save();
  if (clipped) {
    u.ctx.beginPath();
    u.ctx.rect(left, top, wide, high);
    u.ctx.clip();
  }
  u.ctx.scale(ratio, ratio);
  paint({
    context: u.ctx,
    left: left / ratio,
    top: top / ratio,
    wide: wide / ratio,
    high: high / ratio,
    x: (value) => u.valToPos(value, "x") + left / ratio,
    y: (value) => u.valToPos(value, "y") + top / ratio,
  });
  u.ctx.restore();
}

/** What is labelled at its right end: nothing if it would be too much to read. */
export function endLabels(panel: Panel): (Line | Points)[] {
  const lines = panel.marks.filter(
    (mark): mark is Line | Points => mark.mark === "Line" || mark.mark === "Points",
  );
  const shown = lines.filter((mark) => mark.label && (mark.mark === "Points" || mark.role !== "quiet"));
  return shown.length <= MOST_LABELS ? shown : [];
}

/** Room for end labels, the same in every panel of a figure so that their x axes line up. */
export function rightMargin(panels: Panel[]): number {
  const widths = panels.flatMap((panel) => endLabels(panel).map((mark) => width(label(mark.label, 24))));
  return Math.min(Math.max(LEAST_RIGHT, Math.max(0, ...widths) + 10), MOST_RIGHT);
}

/** Labelled transitions, from left to right. */
export function labelledRules(panel: Panel): Rule[] {
  return marksOf(panel, "Rule")
    .filter((rule) => rule.label)
    .sort((a, b) => a.x - b.x);
}

/** Rows that the names of transitions need above a plot from `left` to `right`. */
export function ruleRows(
  panel: Panel,
  place: (x: number) => number,
  left: number,
  right: number,
): [number, number][] {
  const rules = labelledRules(panel);
  return stack(
    rules.map((rule) => place(rule.x) + 4),
    rules.map((rule) => width(label(rule.label, 40))),
    left,
    right,
  );
}

/** Bands of transitions, under everything. */
export function paintBands(u: uPlot, panel: Panel, theme: Theme): void {
  onPlot(u, true, ({ context, left, top, wide, high, x }) => {
    for (const rule of marksOf(panel, "Rule")) {
      if (rule.low === null && rule.high === null) continue;
      const from = rule.low === null ? left : x(rule.low);
      const to = rule.high === null ? left + wide : x(rule.high);
      context.fillStyle = faded(rule.hue === null ? theme.rule : hueOf(theme, rule.hue), 0.13);
      context.fillRect(from, top, Math.max(to - from, 1), high);
    }
  });
}

/** Everything over the lines. */
export function paintMarks(
  u: uPlot,
  panel: Panel,
  curves: Curves,
  theme: Theme,
  right: number,
  place: number | null,
): void {
  onPlot(u, true, (plot) => {
    for (const curve of curves.curves) {
      paintSpikes(plot, u, curve, panel.y_scale === "log", theme);
      paintLonely(plot, u, curve, theme);
    }
    paintTicks(plot, panel, theme);
    if (place !== null) paintPlace(plot, place, theme);
  });
  onPlot(u, false, (plot) => {
    paintRules(plot, panel, theme, plot.left + plot.wide + right);
    paintRail(plot, panel, theme);
    paintEnds(plot, u, panel, curves.curves, theme);
  });
}

/** Vertical strokes for buckets that reach beyond both neighbours by more than a usual band's width. */
function paintSpikes({ context, x, y }: Plot, u: uPlot, curve: Curve, log: boolean, theme: Theme): void {
  if (curve.low < 0 || curve.mark.mark !== "Line" || curve.mark.role !== "series") return;
  const [low, high] = [u.data[curve.low]!, u.data[curve.high]!];
  const there = [...low.keys()].filter((i) => typeof low[i] === "number" && typeof high[i] === "number");
  const on = (value: number) => (log ? Math.log(value) : value);
  const under = there.map((i) => on(low[i]!));
  const over = there.map((i) => on(high[i]!));
  const usual = median(over.map((value, nth) => value - under[nth]!));
  context.strokeStyle = faded(colourOf(curve.mark, theme), 0.6);
  context.lineWidth = 1.2;
  context.beginPath();
  there.forEach((i, nth) => {
    const up = over[nth]! > Math.max(over[nth - 1] ?? -Infinity, over[nth + 1] ?? -Infinity) + usual;
    const down = under[nth]! < Math.min(under[nth - 1] ?? Infinity, under[nth + 1] ?? Infinity) - usual;
    if (!(up || down) || over[nth]! <= under[nth]!) return;
    context.moveTo(x(u.data[0]![i]!), y(low[i]!));
    context.lineTo(x(u.data[0]![i]!), y(high[i]!));
  });
  context.stroke();
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length ? (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2 : 0;
}

/** A value between two gaps has no line to either side: it gets a dot. */
function paintLonely({ context, x, y }: Plot, u: uPlot, curve: Curve, theme: Theme): void {
  if (curve.value < 0) return;
  const values = u.data[curve.value]!;
  context.fillStyle = colourOf(curve.mark, theme);
  for (const index of lonely(values)) {
    context.beginPath();
    context.arc(x(u.data[0]![index]!), y(values[index]!), 1.6, 0, 2 * Math.PI);
    context.fill();
  }
}

/** Indices of values between two gaps. */
const lonely = once((values: ArrayLike<number | null | undefined>): number[] => {
  const there = Array.from(values, (_, index) => index).filter((index) => values[index] !== undefined);
  return there.filter((index, nth) => {
    const [before, after] = [values[there[nth - 1] ?? -1] ?? null, values[there[nth + 1] ?? -1] ?? null];
    return values[index] !== null && before === null && after === null;
  });
});

/** The step that was chosen, e.g. by a scrubber. */
function paintPlace({ context, top, high, x }: Plot, place: number, theme: Theme): void {
  context.strokeStyle = theme.hues[1]!;
  context.lineWidth = 1.2;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(x(place), top);
  context.lineTo(x(place), top + high);
  context.stroke();
  context.setLineDash([]);
}

function paintTicks({ context, left, top, wide, high, x }: Plot, panel: Panel, theme: Theme): void {
  context.strokeStyle = theme.muted;
  context.lineWidth = 0.8;
  context.beginPath();
  for (const mark of marksOf(panel, "Ticks")) {
    for (const place of finite(mark.x).map(x)) {
      if (place < left || place > left + wide) continue;
      context.moveTo(place, top + high - 4);
      context.lineTo(place, top + high);
    }
  }
  context.stroke();
}

function paintRules(plot: Plot, panel: Panel, theme: Theme, outer: number): void {
  const { context, left, top, wide, high, x } = plot;
  context.font = `${LABEL}px ${FACE}`;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  const inside = (rule: Rule) => x(rule.x) >= left - 0.5 && x(rule.x) <= left + wide + 0.5;
  const shown = { ...panel, marks: panel.marks.filter((mark) => mark.mark !== "Rule" || inside(mark)) };
  const rows = ruleRows(shown, x, left, outer);
  const lowest = top - (marksOf(panel, "Rail").length ? RAIL_ROW : 0) - 4;
  const labelled = labelledRules(shown);
  for (const rule of marksOf(shown, "Rule")) {
    const nth = labelled.indexOf(rule);
    const baseline = nth < 0 ? top : lowest - rows[nth]![0] * RULE_ROW;
    context.strokeStyle = context.fillStyle = rule.hue === null ? theme.rule : hueOf(theme, rule.hue);
    context.lineWidth = 0.8;
    context.beginPath();
    context.moveTo(x(rule.x), nth < 0 ? top : baseline - 9);
    context.lineTo(x(rule.x), top + high);
    context.stroke();
    if (nth >= 0) context.fillText(label(rule.label, 40), rows[nth]![1], baseline);
  }
}

/** What has no y, above the plot so that none of it can be taken for zero. */
function paintRail({ context, left, top, wide, x }: Plot, panel: Panel, theme: Theme): void {
  const middle = top - 6;
  for (const rail of marksOf(panel, "Rail")) {
    context.strokeStyle = rail.kind === "nonfinite" ? theme.alarm : theme.muted;
    context.lineWidth = 1.2;
    context.beginPath();
    for (const value of finite(rail.x)) {
      const centre = x(value);
      if (centre < left - 1 || centre > left + wide + 1) continue;
      if (rail.kind === "nonfinite") {
        context.moveTo(centre - 2.5, middle - 2.5);
        context.lineTo(centre + 2.5, middle + 2.5);
        context.moveTo(centre + 2.5, middle - 2.5);
        context.lineTo(centre - 2.5, middle + 2.5);
      } else if (rail.kind === "missing") {
        context.moveTo(centre + 2.3, middle);
        context.arc(centre, middle, 2.3, 0, 2 * Math.PI);
      } else {
        context.moveTo(centre, middle - 3);
        context.lineTo(centre, middle + 3);
      }
    }
    context.stroke();
  }
}

/** What the rail holds, counted. */
export function railWords(panel: Panel): string {
  return marksOf(panel, "Rail")
    .map((rail) => `${count(rail.count.reduce((sum, one) => sum + one, 0))} ${rail.label}`)
    .join(", ");
}

/** Names right of the plot, each at its line's last value in view, moved apart where they would collide. */
function paintEnds(plot: Plot, u: uPlot, panel: Panel, curves: Curve[], theme: Theme): void {
  const wanted = endLabels(panel);
  const ends: { text: string; colour: string; y: number }[] = [];
  for (const curve of curves.filter((one) => wanted.includes(one.mark))) {
    const value = lastInView(u, curve);
    if (value === null) continue;
    const y = Math.min(Math.max(plot.y(value), plot.top), plot.top + plot.high);
    ends.push({ text: label(curve.mark.label, 24), colour: colourOf(curve.mark, theme), y });
  }
  const heights = spread(
    ends.map((end) => end.y),
    13,
    plot.top,
    plot.top + plot.high,
  );
  plot.context.font = `${LABEL}px ${FACE}`;
  plot.context.textAlign = "left";
  plot.context.textBaseline = "middle";
  ends.forEach((end, nth) => {
    plot.context.fillStyle = end.colour;
    plot.context.fillText(end.text, plot.left + plot.wide + 6, heights[nth]!);
  });
}

function lastInView(u: uPlot, curve: Curve): number | null {
  for (let i = u.data[0]!.length - 1; i >= 0; i--) {
    if (u.data[0]![i]! > u.scales.x!.max!) continue;
    const value =
      curve.value >= 0 ? u.data[curve.value]![i] : middle(u.data[curve.low]![i], u.data[curve.high]![i]);
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

function middle(low: number | null | undefined, high: number | null | undefined): number | null {
  return typeof low === "number" && typeof high === "number" ? (low + high) / 2 : null;
}

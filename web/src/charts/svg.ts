/** A chart as a vector drawing: the same scales, ticks and colours as on the canvas. */

import type { Chart } from "./chart";
import { lastIn } from "./draw";
import { FACE } from "./names";
import { ticks, tickText } from "./scales";
import { visible, type Trace } from "./trace";

const SPACE = "http://www.w3.org/2000/svg";
const HEAD = 26;

type Attributes = Record<string, string | number>;

function node(name: string, attributes: Attributes, text?: string): SVGElement {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

const places = (value: number): string => String(Math.round(value * 100) / 100);

/** The whole drawing, titled; sizes are CSS pixels. */
export function drawing(chart: Chart): SVGElement {
  const u = chart.plot!;
  const { theme, title } = chart.options;
  const box = u.over;
  const [left, top] = [box.offsetLeft, box.offsetTop + HEAD];
  const [width, height] = [box.clientWidth, box.clientHeight];
  const svg = node("svg", {
    xmlns: SPACE,
    viewBox: `0 0 ${u.width} ${u.height + HEAD}`,
    width: u.width,
    height: u.height + HEAD,
  });
  const text = (x: number, y: number, words: string, more: Attributes) =>
    node(
      "text",
      { x: places(x), y: places(y), "font-family": FACE, "font-size": 11, fill: theme.muted, ...more },
      words,
    );
  svg.append(node("rect", { width: "100%", height: "100%", fill: theme.paper }));
  svg.append(text(8, 18, title, { "font-size": 13, "font-weight": 600, fill: theme.ink }));
  svg.append(...axes(chart, left, top, width, height, text));
  const clip = node("clipPath", { id: "plot" });
  clip.append(node("rect", { x: left, y: top, width, height }));
  const inside = node("g", { "clip-path": "url(#plot)" });
  const x = (value: number) => left + u.valToPos(value, "x");
  const y = (value: number) => top + u.valToPos(value, "y");
  for (const trace of chart.list) inside.append(...shapes(chart, trace, x, y));
  svg.append(clip, inside);
  for (const trace of chart.list) {
    const end = lastIn(trace, u.scales.x.max!);
    if (trace.label && end >= 0 && chart.options.room) {
      svg.append(text(left + width + 5, y(trace.line[end]) + 4, trace.label, { fill: trace.colour }));
    }
    for (let at = 0; at < trace.nonfinite.length; at++) {
      if (trace.nonfinite[at]) svg.append(text(x(trace.x[at]) - 3, top - 2, "×", { fill: trace.colour }));
    }
  }
  return svg;
}

type Write = (x: number, y: number, words: string, more: Attributes) => SVGElement;

function axes(
  chart: Chart,
  left: number,
  top: number,
  width: number,
  height: number,
  text: Write,
): SVGElement[] {
  const u = chart.plot!;
  const { theme, xKind, yKind, axis } = chart.options;
  const found: SVGElement[] = [];
  const { min: low, max: high } = u.scales.y;
  for (const tick of ticks(yKind, "y", chart.bend, low!, high!, 5, "y")) {
    const y = top + u.valToPos(tick, "y");
    found.push(
      node("line", { x1: left, x2: left + width, y1: places(y), y2: places(y), stroke: theme.hairline }),
    );
    found.push(text(left - 5, y + 4, tickText("y", tick), { "text-anchor": "end" }));
  }
  for (const tick of ticks(xKind, "x", 1, u.scales.x.min!, u.scales.x.max!, 5, axis)) {
    const x = left + u.valToPos(tick, "x");
    found.push(text(x, top + height + 14, tickText(axis, tick), { "text-anchor": "middle" }));
  }
  found.push(
    node("line", { x1: left, x2: left + width, y1: top + height, y2: top + height, stroke: theme.quiet }),
  );
  return found;
}

function shapes(
  chart: Chart,
  trace: Trace,
  x: (v: number) => number,
  y: (v: number) => number,
): SVGElement[] {
  const { min, max } = chart.plot!.scales.x;
  const floor = chart.options.yKind === "log" ? chart.plot!.scales.y.min! : -Infinity;
  const [first, last] = visible(trace, min!, max!);
  const upper: string[] = [];
  const lower: string[] = [];
  let line = "";
  let pen = "M";
  for (let at = first; at <= last; at++) {
    const across = places(x(trace.x[at]));
    if (trace.high[at] > floor) {
      upper.push(`${across},${places(y(trace.high[at]))}`);
      lower.unshift(`${across},${places(y(Math.max(trace.low[at], floor)))}`);
    }
    if (Number.isFinite(trace.line[at]) && trace.line[at] > floor) {
      line += `${pen}${across} ${places(y(trace.line[at]))}`;
      pen = "L";
    } else {
      pen = "M";
    }
  }
  const stroke = {
    fill: "none",
    stroke: trace.colour,
    "stroke-opacity": trace.alpha,
    "stroke-width": trace.width,
  };
  const dash: Attributes = trace.role === "superseded" ? { "stroke-dasharray": "3 3" } : {};
  const band = node("polygon", {
    points: [...upper, ...lower].join(" "),
    fill: trace.colour,
    "fill-opacity": 0.2,
  });
  const path = node("path", { d: line || "M0 0", ...stroke, ...dash });
  return trace.role === "superseded" ? [path] : [band, path];
}

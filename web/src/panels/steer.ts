/** A chart worked by keys, when its title has the focus: arrows move the crosshair, + and − zoom around it. */

import type { Chart } from "../charts/chart";
import { point, pointed } from "../cursor";
import { view } from "../state";
import { zoomTo } from "./zoom";

/** A press moves by this share of what is shown; with Shift, by ten times as much. */
const STEP = 0.01;
const LEAST = { step: 4, tokens: 4, time: 1 };

function middle(chart: Chart): number {
  const { x, axis } = pointed();
  const [from, to] = chart.range;
  return x !== null && axis === chart.options.axis && x >= from && x <= to ? x : (from + to) / 2;
}

/** Whether the key was one of the chart's. */
export function steer(chart: Chart, event: KeyboardEvent): boolean {
  const [from, to] = chart.range;
  const at = middle(chart);
  const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (direction) {
    const far = direction * (to - from) * STEP * (event.shiftKey ? 10 : 1);
    const x = Math.min(Math.max(at + far, from), to);
    const run = pointed().run ?? chart.list.at(-1)?.run ?? null;
    chart.follow(x, run);
    point({ x, run, axis: chart.options.axis, source: chart });
    return true;
  }
  if (event.key === "+" || event.key === "=") {
    const half: [number, number] = [at - (at - from) / 2, at + (to - at) / 2];
    if (half[1] - half[0] >= LEAST[chart.options.axis]) zoomTo(half, chart.options.axis);
  } else if (event.key === "-") {
    // Twice as wide; the view's own ends are those of all data where nothing is zoomed.
    const wide: [number, number] = [Math.max(0, at - 2 * (at - from)), at + 2 * (to - at)];
    const { from: left, to: right } = view.get();
    zoomTo(left === null || right === null ? null : wide, chart.options.axis);
  } else {
    return false;
  }
  return true;
}

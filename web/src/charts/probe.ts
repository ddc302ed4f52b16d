/** A window for tests to look in: what every chart on the page shows. Nothing can be changed through it. */

import type { Chart } from "./chart";
import type { Trace } from "./trace";

const charts = new Set<Chart>();

export const register = (chart: Chart): void => void charts.add(chart);
export const unregister = (chart: Chart): void => void charts.delete(chart);

/** Copies, made only when they are looked at. */
function lines({ key, run, role, colour, info, ...columns }: Trace) {
  return {
    key,
    run,
    role,
    colour,
    info: { ...info },
    get x() {
      return [...columns.x];
    },
    get low() {
      return [...columns.low];
    },
    get high() {
      return [...columns.high];
    },
    get line() {
      return [...columns.line];
    },
  };
}

function told(chart: Chart) {
  const u = chart.plot;
  const scale = (name: string) => ({ min: u?.scales[name].min ?? null, max: u?.scales[name].max ?? null });
  return {
    title: chart.options.title,
    canvas: u?.ctx.canvas ?? null,
    over: u?.over ?? null,
    get scales() {
      return { x: scale("x"), y: scale("y") };
    },
    cursor: { left: u?.cursor.left ?? null, idx: u?.cursor.idx ?? null },
    lines: chart.list.length,
    get series() {
      return chart.list.map(lines);
    },
    /** Where a value is on the canvas, in canvas pixels. */
    at: (x: number, y: number) => (u ? [u.valToPos(x, "x", true), u.valToPos(y, "y", true)] : null),
  };
}

Object.defineProperty(window, "__ontogeny", {
  value: Object.freeze({
    get charts() {
      return [...charts].map(told);
    },
  }),
});

/** A window for tests to look in: what every chart on the page shows. Nothing can be changed through it. */

import type { Chart } from "./chart";

const charts = new Set<Chart>();

export const register = (chart: Chart): void => void charts.add(chart);
export const unregister = (chart: Chart): void => void charts.delete(chart);

function told(chart: Chart) {
  const u = chart.plot;
  const scale = (name: string) => ({ min: u?.scales[name].min ?? null, max: u?.scales[name].max ?? null });
  return {
    title: chart.options.title,
    canvas: u?.ctx.canvas ?? null,
    over: u?.over ?? null,
    scales: { x: scale("x"), y: scale("y") },
    cursor: { left: u?.cursor.left ?? null, idx: u?.cursor.idx ?? null },
    series: chart.list.map(({ key, run, role, colour, x, low, high, line, info }) => ({
      key,
      run,
      role,
      colour,
      info: { ...info },
      x: [...x],
      low: [...low],
      high: [...high],
      line: [...line],
    })),
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

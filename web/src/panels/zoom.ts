/** The zoomed range of x, the same for every panel. */

import type { AxisName } from "../api";
import { view } from "../state";

/** A range in whole steps or tokens, none below 0; of time as it is. */
export const whole = ([from, to]: [number, number], axis: AxisName): [number, number] =>
  axis === "time" ? [from, to] : [Math.max(0, Math.floor(from)), Math.ceil(to)];

/** Zooms to a range in units of the axis; null shows everything. */
export function zoomTo(range: [number, number] | null, axis: AxisName): void {
  if (!range) return view.set({ from: null, to: null });
  const [from, to] = whole(range, axis);
  view.set({ from, to });
}

/** The zoomed range of x, the same for every panel. */

import type { AxisName } from "../api";
import { view } from "../state";

/** Zooms to a range in units of the axis, whole steps or tokens; null shows everything. */
export function zoomTo(range: [number, number] | null, axis: AxisName): void {
  if (!range) return view.set({ from: null, to: null });
  const [from, to] = axis === "time" ? range : [Math.max(0, Math.floor(range[0])), Math.ceil(range[1])];
  view.set({ from, to });
}

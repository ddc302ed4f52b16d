/** What the pointer is near: a run, a checkpoint. Places are CSS pixels of the plot. */

import type uPlot from "uplot";
import { bucketAt, type Trace } from "./trace";

/** A line is near from here on. */
const NEAR = 24;

/** The run (or the condition, of a mean) whose line is nearest to the pointer, if any is near. */
export function nearestRun(u: uPlot, traces: Trace[], left: number, top: number): string | null {
  const x = u.posToVal(left, "x");
  let best: string | null = null;
  let distance = NEAR;
  for (const trace of traces) {
    const at = bucketAt(trace, x);
    const away = at < 0 ? NaN : Math.abs(u.valToPos(trace.line[at], "y") - top);
    if (away < distance) [best, distance] = [trace.run, away];
  }
  return best;
}

/** The checkpoint whose tick is under the pointer. */
export function checkpointNear(u: uPlot, checkpoints: number[], left: number, top: number): number | null {
  if (top < u.over.clientHeight - 12) return null;
  let best: number | null = null;
  let distance = 6;
  for (const at of checkpoints) {
    const away = Math.abs(u.valToPos(at, "x") - left);
    if (away < distance) [best, distance] = [at, away];
  }
  return best;
}

/** The words around a chart: its latest value, what the pointer is at, what the drawing is made of. */

import type { AxisName } from "../api";
import { bucketAt, type Trace } from "../charts/trace";
import { lastIn } from "../charts/draw";
import { counted, duration, value, whole } from "../format";

/** The value to the right of the title: of one line only, since of many there is no one latest. */
export function latest(list: Trace[]): string {
  const lines = list.filter((trace) => trace.role === "mean" || trace.role === "run");
  if (lines.length !== 1) return "";
  const end = lastIn(lines[0], Infinity);
  const last = lines[0].line.length - 1;
  // A run that ended in NaN says so, and not what it was before.
  if (last >= 0 && lines[0].nonfinite[last] > 0 && end < last) return "not finite";
  return end < 0 ? "" : value(lines[0].line[end]);
}

/** "20,000 points, 600 buckets, 3 non-finite, 2 segments". */
export function made(list: Trace[], excluded: number): string {
  const data = list.filter((trace) => trace.info.run);
  if (!list.length) return "no values";
  const sum = (pick: (trace: Trace) => number | undefined) =>
    data.reduce((total, trace) => total + (pick(trace) || 0), 0);
  const parts = data.length
    ? [
        counted(
          sum((trace) => trace.info.points),
          "point",
        ),
      ]
    : [];
  if (data.length)
    parts.push(
      counted(
        sum((trace) => trace.x.length),
        "bucket",
      ),
    );
  const broken = sum((trace) => trace.info.nonfinite);
  if (broken) parts.push(`${whole(broken)} non-finite`);
  if (data.length)
    parts.push(
      counted(
        sum((trace) => trace.info.segments?.length),
        "segment",
      ),
    );
  if (excluded) parts.push(`${counted(excluded, "bucket")} reach zero or below: ▾`);
  return parts.join(", ");
}

const BANDS = {
  sd: "mean ± 1 sd of seeds",
  ci: "mean, 95 % CI of seeds",
  range: "mean, min–max of seeds",
} as const;

/** What the bold line and the band of seeds are; how many stands at the line's end and in the table. */
export function banded(list: Trace[], band: keyof typeof BANDS): string {
  return list.some((trace) => trace.role === "mean") ? BANDS[band] : "";
}

export const place = (axis: AxisName, x: number): string =>
  axis === "time" ? duration(x) : whole(Math.round(x));

/** The trace the pointer speaks of: of the nearest run, else the first bold one. */
export function spoken(list: Trace[], run: string | null): Trace | undefined {
  return (
    list.findLast((trace) => trace.run === run && trace.role !== "superseded") ??
    (list.filter((trace) => trace.role !== "superseded").length === 1 ? list.at(-1) : undefined)
  );
}

/** "step 1,024–1,055: 2.31 to 2.52, 32 points". */
export function reading(trace: Trace, axis: AxisName, x: number): string {
  const at = bucketAt(trace, x);
  if (at < 0) return "";
  const [left, right] = [trace.left[at], trace.right[at] - (axis === "time" ? 0 : 1)];
  const range = right > left ? `${place(axis, left)}–${place(axis, right)}` : place(axis, left);
  const low = trace.low[at];
  const high = trace.high[at];
  const values = Number.isNaN(low)
    ? "no finite value"
    : low === high
      ? value(low)
      : `${value(low)} to ${value(high)}`;
  const count = trace.count[at];
  const bad = trace.nonfinite[at] ? `, ${whole(trace.nonfinite[at])} non-finite` : "";
  return `${axis} ${range}: ${values}${count > 1 ? `, ${whole(count)} points` : ""}${bad}`;
}

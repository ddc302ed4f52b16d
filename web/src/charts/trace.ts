/** What a chart draws: traces of buckets, and how they line up on one x. */

import type { SeriesInfo, AxisName } from "../api";
import type { Frame } from "../frame";
import type { SeriesHeader } from "../api";

export interface Trace {
  /** Tells traces of one chart apart. */
  key: string;
  run: string;
  group: string;
  /** At the line's end, and in readouts. */
  label: string;
  colour: string;
  alpha: number;
  width: number;
  role: "run" | "seed" | "mean" | "superseded";
  info: SeriesInfo;
  /** Middle of each bucket, in units of the x axis. */
  x: Float64Array;
  left: Float64Array;
  right: Float64Array;
  low: Float32Array;
  high: Float32Array;
  /** The drawn line: smoothed, or the last value of each bucket, or the mean of seeds. */
  line: Float32Array;
  count: Uint32Array;
  nonfinite: Uint32Array;
}

export type Style = Pick<Trace, "run" | "group" | "label" | "colour" | "alpha" | "width" | "role">;

const NO_COUNTS = new Uint32Array(0);

/** The middle of what a half-open bucket may hold; whole numbers where the axis counts. */
function middles(left: Float64Array, right: Float64Array, axis: AxisName): Float64Array {
  const unit = axis === "time" ? 0 : 1;
  return left.map((from, index) => Math.max(from, (from + right[index] - unit) / 2));
}

/** Middles of edges that were seen before are the same column, so that runs of equal steps can be told by it. */
function middlesOnce(): (left: Float64Array, right: Float64Array, axis: AxisName) => Float64Array {
  const found = new Map<Float64Array, [Float64Array, Float64Array]>();
  return (left, right, axis) => {
    const [known, x] = found.get(left) ?? [];
    if (known === right) return x!;
    const made = middles(left, right, axis);
    found.set(left, [right, made]);
    return made;
  };
}

/** The traces of an answer of `/api/series` or `/api/group`, dressed by `style`. */
export function traces(frame: Frame<SeriesHeader>, style: (info: SeriesInfo) => Style): Trace[] {
  const middle = middlesOnce();
  return frame.header.series.flatMap((info, index) => {
    if (!frame.series[index]?.left) return [];
    const columns = frame.series[index];
    const left = columns.left as Float64Array;
    const right = columns.right as Float64Array;
    const line = (columns.smooth ?? columns.mean ?? columns.last) as Float32Array;
    return {
      ...style(info),
      key: `${info.group ?? ""}/${info.run ?? ""}/${info.attempt ?? 0}/${info.superseded ? 1 : 0}`,
      info,
      x: middle(left, right, frame.header.x),
      left,
      right,
      line,
      low: (columns.low ?? line) as Float32Array,
      high: (columns.high ?? line) as Float32Array,
      count: (columns.count ?? NO_COUNTS) as Uint32Array,
      nonfinite: (columns.nonfinite ?? NO_COUNTS) as Uint32Array,
    };
  });
}

export type Aligned = [Float64Array, ...ArrayLike<number | null | undefined>[]];

/** All lines over the union of their x: null breaks a line, undefined is another trace's place. */
export function align(list: Trace[]): Aligned {
  const [{ x }] = list;
  if (list.every((trace) => trace.x === x)) return [x, ...list.map(({ line }) => broken(line))];
  const all = union(list);
  return [all, ...list.map((trace) => placed(trace, all))];
}

function union(list: Trace[]): Float64Array {
  const all = new Float64Array(list.reduce((sum, trace) => sum + trace.x.length, 0));
  let offset = 0;
  for (const trace of list) {
    all.set(trace.x, offset);
    offset += trace.x.length;
  }
  all.sort();
  let kept = 0;
  for (let index = 0; index < all.length; index++) {
    if (index === 0 || all[index] !== all[kept - 1]) all[kept++] = all[index];
  }
  return all.slice(0, kept);
}

function placed(trace: Trace, x: Float64Array): (number | null | undefined)[] {
  const values = new Array<number | null | undefined>(x.length);
  for (let from = 0, at = 0; from < trace.x.length; from++) {
    while (x[at] < trace.x[from]) at++;
    const value = trace.line[from];
    values[at] = Number.isFinite(value) ? value : null;
  }
  return values;
}

/** The line itself, or with null for what is not finite where there is such. */
function broken(line: Float32Array): ArrayLike<number | null> {
  return line.every(Number.isFinite) ? line : Array.from(line, (one) => (Number.isFinite(one) ? one : null));
}

/** Index of the bucket that holds x, or of the nearest one; -1 before a trace begins and after it ended. */
export function bucketAt(trace: Trace, x: number): number {
  const { left, right } = trace;
  const most = left.length - 1;
  if (most < 0) return -1;
  const slack = (right[most] - left[0]) / (most + 1);
  if (x < left[0] - slack || x > right[most] + slack) return -1;
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (left[middle] <= x) low = middle;
    else high = middle - 1;
  }
  const next = low < most && x >= right[low] && left[low + 1] - x < x - right[low];
  return next ? low + 1 : low;
}

/** First and last bucket to draw: those in view and one on each side. */
export function visible(trace: Trace, from: number, to: number): [number, number] {
  const { x } = trace;
  let first = 0;
  let last = x.length - 1;
  while (first < last && x[first + 1] < from) first++;
  while (last > first && x[last - 1] > to) last--;
  return [first, last];
}

/** The buckets of traces that reach into a range, and how many points they hold. */
export function cut(list: Trace[], from: number, to: number): Trace[] {
  // What was one column stays one: `align` tells equal x by it.
  const parts = new Map<Trace["x"], Trace["x"]>();
  return list.map((trace) => {
    let [first, end] = [0, trace.x.length];
    while (first < end && trace.right[first] <= from) first++;
    while (end > first && trace.left[end - 1] > to) end--;
    const part = <Numbers extends Float64Array | Float32Array | Uint32Array>(column: Numbers) =>
      column.subarray(first, end) as Numbers;
    if (!parts.has(trace.x)) parts.set(trace.x, part(trace.x));
    const [count, nonfinite] = [part(trace.count), part(trace.nonfinite)];
    const sum = (column: Uint32Array) => column.reduce((total, one) => total + one, 0);
    return {
      ...trace,
      info: { ...trace.info, points: sum(count), buckets: end - first, nonfinite: sum(nonfinite) },
      ...{ count, nonfinite, x: parts.get(trace.x)!, left: part(trace.left), right: part(trace.right) },
      ...{ low: part(trace.low), high: part(trace.high), line: part(trace.line) },
    };
  });
}

export interface Extent {
  low: number;
  high: number;
  /** The smallest value above zero, for a logarithmic axis. */
  positive: number;
}

/** Extremes of everything drawn between two x. */
export function extent(list: Trace[], from: number, to: number): Extent {
  let [least, most, positive] = [Infinity, -Infinity, Infinity];
  for (const { x, low, high, line } of list) {
    for (let index = 0; index < x.length; index++) {
      if (x[index] < from || x[index] > to) continue;
      for (const value of [low[index], line[index], high[index]]) {
        if (!Number.isFinite(value)) continue;
        if (value < least) least = value;
        if (value > most) most = value;
        if (value > 0 && value < positive) positive = value;
      }
    }
  }
  return { low: least, high: most, positive };
}

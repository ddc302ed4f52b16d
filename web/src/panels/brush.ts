/** Finer buckets of what is being brushed, asked for before the brush is let go: the zoom finds them there. */

import { cut, type Trace } from "../charts/trace";
import { keyOf, load, type Wanted } from "./data";
import { whole } from "./zoom";

/** What is asked for reaches beyond the brush by this share of it on each side: it may still grow. */
const BEYOND = 0.2;
/** As long as the brush is no less than this share of what was asked for, that is fine enough for it. */
const LEAST = 0.5;
/** Milliseconds between two questions. */
const PAUSE = 80;

interface Held {
  key: string;
  from: number;
  to: number;
  traces: Trace[];
}

let held: Held | null = null;
let busy = false;

/** The same question but for its range. */
const anywhere = (wanted: Wanted): string =>
  keyOf({ ...wanted, view: { ...wanted.view, from: null, to: null } });

const fits = (from: number, to: number): boolean =>
  held !== null && held.from <= from && held.to >= to && to - from >= LEAST * (held.to - held.from);

/** The brush reaches from here to there now. */
export function brushing(wanted: Wanted, range: [number, number]): void {
  const key = anywhere(wanted);
  const [from, to] = whole(range, wanted.view.x);
  if (busy || !(to > from) || (held?.key === key && fits(from, to))) return;
  busy = true;
  const more = BEYOND * (to - from);
  const [low, high] = whole([from - more, to + more], wanted.view.x);
  // Wider in pixels by as much as it is wider in steps: the buckets are those of the brush.
  const width = wanted.width * (1 + 2 * BEYOND);
  load({ ...wanted, width, view: { ...wanted.view, from: low, to: high } }, new AbortController().signal)
    .then((traces) => (held = { key, from: low, to: high, traces }))
    .catch(() => undefined)
    .finally(() => setTimeout(() => (busy = false), PAUSE));
}

/** What was asked for ahead of a zoom, cut to it; null if that is not fine enough or of something else. */
export function foreseen(wanted: Wanted): Trace[] | null {
  const { from, to } = wanted.view;
  if (from === null || to === null || held?.key !== anywhere(wanted) || !fits(from, to)) return null;
  return cut(held.traces, from, to);
}

/** One crosshair for everything on the page. */

import { Store } from "./store";
import type { AxisName } from "./api";

export interface Cursor {
  /** Where, in units of `axis`; null is nowhere. */
  x: number | null;
  axis: AxisName;
  /** The run that is nearest to the pointer, or pointed at in the table. */
  run: string | null;
  /** Who said so; whoever it was need not listen to itself. */
  source: unknown;
}

export const cursor = new Store<Cursor>({ x: null, axis: "step", run: null, source: null });

let waiting: Partial<Cursor> | null = null;

/** Where it was told to be last, also within this frame: keys may come faster than frames. */
export const pointed = (): Cursor => ({ ...cursor.get(), ...waiting });

/** Tells everyone where the pointer is, at most once a frame. */
export function point(change: Partial<Cursor>): void {
  if (waiting) {
    Object.assign(waiting, change);
    return;
  }
  waiting = { ...change };
  requestAnimationFrame(() => {
    const now = waiting!;
    waiting = null;
    cursor.set(now);
  });
}

/** A colour for every condition, the same wherever and whenever it is drawn. */

import type { Run } from "./api";
import { runs } from "./runs";
import { theme, type Theme } from "./theme";

const HUES = 7;

/** FNV-1a: spreads ids over the hues without favour. */
export function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    sum = Math.imul(sum ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return sum;
}

/** What shares a colour: runs of one configuration and the same interventions, apart from their seeds. */
export const condition = (run: Run): string => run.group || run.id;

const slots = new Map<string, number>();

/**
 * The hue of a condition: the one its hash names, or the next that no earlier condition took. Conditions are
 * dealt in the order they started, so that a later run never takes an earlier one's colour away.
 */
function slot(key: string): number {
  const known = slots.get(key);
  if (known !== undefined) return known;
  const keys = new Map<string, string>();
  for (const run of runs.get().byId.values()) {
    const started = String(run.started ?? "");
    const name = condition(run);
    if (!slots.has(name) && (keys.get(name) ?? "\uffff") > started) keys.set(name, started);
  }
  if (!keys.has(key)) keys.set(key, "\uffff");
  const order = [...keys].sort(([a, x], [b, y]) => (x < y ? -1 : x > y ? 1 : a < b ? -1 : 1));
  for (const [name] of order) slots.set(name, free(hash(name) % HUES));
  return slots.get(key)!;
}

function free(wanted: number): number {
  const taken = new Set(slots.values());
  for (let step = 0; step < HUES; step++)
    if (!taken.has((wanted + step) % HUES)) return (wanted + step) % HUES;
  return wanted;
}

export function hueOf(run: Run, now: Theme = theme.get()): string {
  return now.hues[slot(condition(run))];
}

/** The colour of a run by its id; ink if the run is not known. */
export function colourOf(id: string, now: Theme = theme.get()): string {
  const run = runs.get().byId.get(id);
  return run ? hueOf(run, now) : now.ink;
}

/** Where a transition is to be seen: the page of its part and place, as an address that a row links to. */

import type { Run } from "../api";
import { count } from "../figure/numbers";
import { view, write, type View } from "../state";
import { isLayered } from "./layers";
import type { Part, Transition } from "./source";

/** What a transition leads to, from the view as it is, and what that is in words; null where no page shows it. */
export type Leading = (one: Transition) => { href: () => string; to: string } | null;

/** A run and the parts that are known to be measured on it. */
export type Known = Pick<Run, "last"> & { parts: Part[] };

type Target = { to: string; change: Partial<View>; extra: Record<string, string> };

/** Leads into the pages of the given runs. */
export function leading(all: Transition[], runs: ReadonlyMap<string, Known>): Leading {
  const loops = lastLoops(all);
  return (one) => {
    const run = runs.get(one.run);
    // Of a looped model the pages show the last loop.
    if (!run || (one.place.loop !== undefined && Number(one.place.loop) !== loops.get(loopKey(one))))
      return null;
    const found = targetOf(one, run);
    if (!found) return null;
    const to = one.step === null ? found.to : `${found.to} at step ${count(one.step)}`;
    return { href: () => addressOf(one, found), to: `open ${to}` };
  };
}

function addressOf(one: Transition, { change, extra }: Target): string {
  const now = view.get();
  const step = one.step === null ? now.step : Math.round(one.step);
  const { part, stimulus, component } = one;
  const chosen = { of: one.run, part, stimulus, component, settings: "", ...extra };
  return "#" + write({ ...now, ...change, step, extra: { ...now.extra, ...chosen } });
}

function targetOf(one: Transition, run: Known): Target | null {
  const place = Object.keys(one.place).filter((axis) => axis !== "loop");
  if (!place.length) {
    if (one.component || !(one.part in run.last)) return null;
    return { to: `the metric ${one.part}`, change: { open: `metric:${one.part}` }, extra: {} };
  }
  const part = run.parts.find((measured) => measured.name === one.part);
  const known = part && (!one.component || part.components.includes(one.component));
  if (!known || one.component.startsWith("null")) return null;
  const page = (to: string, extra: Record<string, string>): Target => {
    return { to, change: { page: to.toLowerCase() }, extra };
  };
  const { layer, head } = one.place;
  const over = (...axes: string[]) => axes.every((axis) => part.axes.includes(axis));
  const at = place.sort().join(" ");
  if (at === "head layer" && over("layer", "head")) return page("Heads", { head: `${layer}.${head}` });
  if (at === "layer" && isLayered(part)) return page("Layers", { layer: String(layer) });
  if ((at === "matrix" || at === "layer matrix") && over("matrix")) return page("Matrices", {});
  return null;
}

/** The last loop of each part, by everything that was looked at. */
function lastLoops(all: Transition[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const one of all) {
    const loop = Number(one.place.loop ?? 0);
    last.set(loopKey(one), Math.max(last.get(loopKey(one)) ?? 0, loop));
  }
  return last;
}

function loopKey(one: Transition): string {
  return JSON.stringify([one.run, one.part]);
}

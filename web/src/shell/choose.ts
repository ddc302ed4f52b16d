/** What the run table does to the view. */

import { chosen } from "../runs";
import { view } from "../state";

const without = (list: string[], ids: string[]): string[] => list.filter((id) => !ids.includes(id));

/** Draws runs that were not, or hides runs that are drawn; hidden runs stay chosen and keep their place. */
export function toggle(ids: string[]): void {
  const now = view.get();
  const all = chosen(now);
  const shown = ids.every((id) => all.includes(id) && !now.hidden.includes(id));
  if (shown) return view.set({ hidden: [...now.hidden, ...ids] });
  view.set({ runs: [...all, ...without(ids, all)], hidden: without(now.hidden, ids) });
}

export function only(ids: string[]): void {
  view.set({ runs: ids, hidden: [], pinned: [] });
}

export function remove(ids: string[]): void {
  const now = view.get();
  view.set({
    runs: without(chosen(now), ids),
    hidden: without(now.hidden, ids),
    pinned: without(now.pinned, ids),
  });
}

export function pin(id: string): void {
  const now = view.get();
  const pinned = now.pinned.includes(id) ? without(now.pinned, [id]) : [...now.pinned, id];
  view.set({ pinned, runs: chosen(now) });
}

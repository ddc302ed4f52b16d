/** News from the server: which runs changed, and what their last values are. */

import type { LiveEvent } from "./api";
import { amend, loadPage, runs } from "./runs";
import { Store } from "./store";

/** Counts changes of each run; who draws a run asks again when its number grows. */
export interface Versions {
  metrics: Readonly<Record<string, number>>;
  rows: Readonly<Record<string, number>>;
  transitions: Readonly<Record<string, number>>;
  /** The server was there and is no more. */
  lost: boolean;
}

export const versions = new Store<Versions>({ metrics: {}, rows: {}, transitions: {}, lost: false });

const KINDS = ["metrics", "rows", "transitions"] as const;

function take(event: LiveEvent): void {
  const now = versions.get();
  const next = { metrics: { ...now.metrics }, rows: { ...now.rows }, transitions: { ...now.transitions } };
  let unknown = false;
  for (const { id, status, steps, last, ...changed } of event.runs) {
    unknown ||= !runs.get().byId.has(id);
    const known = runs.get().byId.get(id);
    amend(id, { status, steps, last: { ...known?.last, ...last } });
    for (const kind of KINDS) if (changed[`${kind}_changed`]) next[kind][id] = (next[kind][id] ?? 0) + 1;
  }
  versions.set(next);
  runs.set({ cursor: event.cursor });
  if (unknown) void loadPage(0, true);
}

/** Listens from the first table on; the browser reconnects by itself and says where it was. */
export function listen(): void {
  const stop = runs.watch(({ loaded }) => {
    if (!loaded) return;
    stop();
    connect();
  });
}

function connect(): void {
  const source = new EventSource("api/events?cursor=" + encodeURIComponent(runs.get().cursor));
  source.onopen = () => versions.set({ lost: false });
  source.onerror = () => versions.set({ lost: true });
  source.onmessage = (message) => take(JSON.parse(message.data) as LiveEvent);
}

/** A number that grows when any of these runs changed. */
export function version(kind: (typeof KINDS)[number], ids: string[], now = versions.get()): number {
  return ids.reduce((sum, id) => sum + (now[kind][id] ?? 0), 0);
}

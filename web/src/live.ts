/** News from the server: which runs changed, and what their last values are. */

import type { LiveEvent, Run } from "./api";
import { amend, reload, runs } from "./runs";
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

type Told = LiveEvent["runs"][number];

/** What an event says of a run, without what it leaves out. */
function told({ status, steps, tokens, seconds, claims, last }: Told): Partial<Run> {
  const said = Object.entries({ status, steps, tokens, seconds, claims, last });
  return Object.fromEntries(said.filter(([, value]) => value !== undefined));
}

type Counts = Record<(typeof KINDS)[number], Record<string, number>>;

function take(event: LiveEvent): void {
  const now = versions.get();
  const next = Object.fromEntries(KINDS.map((kind) => [kind, { ...now[kind] }])) as Counts;
  const known = runs.get().byId;
  // Another server than before: nothing that was read is known to be so still.
  const all = event.reset ? [...known.keys()] : [];
  for (const kind of KINDS) for (const id of all) next[kind][id] = (next[kind][id] ?? 0) + 1;
  for (const run of event.runs) {
    for (const kind of KINDS) if (run[`${kind}_changed`]) next[kind][run.id] = (next[kind][run.id] ?? 0) + 1;
  }
  amend(new Map(event.runs.map((run) => [run.id, told(run)])));
  versions.set(next);
  runs.set({ cursor: event.cursor });
  const came = event.runs.some(({ id }) => !known.has(id));
  if (came || event.reset || event.gone?.some((id) => known.has(id))) reload();
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

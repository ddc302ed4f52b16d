/** The collection's runs: pages of the table as they are needed, and any run that is asked for by id. */

import { getJson, type Collection, type Run } from "./api";
import { legible } from "./names";
import { view } from "./state";
import { Store } from "./store";

export const PAGE = 100;
/** As many runs are drawn before any is chosen. */
export const FIRST = 10;

export interface Rows {
  name: string;
  /** The filter these rows answer. */
  q: string;
  total: number;
  /** Rows by position in the table; holes are not loaded yet. */
  rows: (Run | undefined)[];
  byId: ReadonlyMap<string, Run>;
  cursor: string;
  error: string;
  loaded: boolean;
}

export const runs = new Store<Rows>({
  name: "",
  q: "",
  total: 0,
  rows: [],
  byId: new Map(),
  cursor: "",
  error: "",
  loaded: false,
});

const asked = new Set<string>();

const told = (run: Run): Run => ({ ...run, name: legible(run.name) });

function keep(answer: Collection, q: string, page: number): void {
  const now = runs.get();
  const rows =
    q === now.q && now.total === answer.total ? [...now.rows] : new Array<Run | undefined>(answer.total);
  const byId = new Map(now.byId);
  answer.runs.map(told).forEach((run, index) => {
    rows[page * PAGE + index] = run;
    byId.set(run.id, run);
  });
  const { name, total, cursor } = answer;
  runs.set({ name, total, cursor: now.cursor || cursor, q, rows, byId, error: "", loaded: true });
}

/** Loads the page of the table that holds a row. */
export async function loadPage(page: number, again = false): Promise<void> {
  const q = view.get().q;
  const key = `${q}\n${page}`;
  if (asked.has(key) && !again) return;
  asked.add(key);
  try {
    const answer = await getJson<Collection>("collection", { q, page, size: PAGE });
    if (view.get().q === q) keep(answer, q, page);
  } catch (error) {
    asked.delete(key);
    runs.set({ error: (error as Error).message, loaded: true });
  }
}

/** Loads single runs that the address names but no loaded page holds. */
export async function loadRuns(ids: string[]): Promise<void> {
  const missing = ids.filter((id) => !runs.get().byId.has(id) && !asked.has(id)).slice(0, 200);
  missing.forEach((id) => asked.add(id));
  const found = await Promise.all(missing.map((id) => getJson<Run>(`runs/${id}`).catch(() => null)));
  const byId = new Map(runs.get().byId);
  for (const run of found) if (run) byId.set(run.id, told(run));
  if (found.some(Boolean)) runs.set({ byId });
}

/** A new filter means new rows. */
export function followFilter(): void {
  let q = view.get().q;
  view.watch((now) => {
    if (now.q === q) return;
    q = now.q;
    asked.clear();
    void loadPage(0);
  });
  void loadPage(0);
}

/** Ids of the runs that are chosen: those the address names, or the first of the table. */
export function chosen(now = view.get(), rows = runs.get()): string[] {
  const ids = now.runs ?? rows.rows.slice(0, FIRST).flatMap((run) => (run ? [run.id] : []));
  return [...now.pinned, ...ids.filter((id) => !now.pinned.includes(id))];
}

/** The runs that are drawn: chosen and not hidden. */
export function drawn(now = view.get(), rows = runs.get()): Run[] {
  return chosen(now, rows)
    .filter((id) => !now.hidden.includes(id))
    .flatMap((id) => rows.byId.get(id) ?? []);
}

/** Changes what is known of runs, e.g. by a live event; runs that are not known stay so. */
export function amend(changes: ReadonlyMap<string, Partial<Run>>): void {
  const { byId, rows } = runs.get();
  const amended = new Map(byId);
  for (const [id, change] of changes) {
    const run = byId.get(id);
    if (run) amended.set(id, { ...run, ...change, last: { ...run.last, ...change.last } });
  }
  runs.set({ byId: amended, rows: rows.map((run) => run && amended.get(run.id)) });
}

/** Looks at the table again, from its beginning: runs came or went. */
export function reload(): void {
  asked.clear();
  runs.set({ rows: runs.get().rows.map((run, index) => (index < PAGE ? run : undefined)) });
  void loadPage(0);
}
